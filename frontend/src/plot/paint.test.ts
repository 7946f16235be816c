import { describe, expect, it } from "vitest";
import type { Paints } from "../api/types";
import { painted } from "./paint";

const paints: Paints = {
  light: {
    template: { layout: { font: {} } },
    palette: { panel: "#ffffff", needed: "#1F77B4", scale: ["#f4f6f9", "#0b4377"] },
  },
  dark: {
    template: { layout: {} },
    palette: { panel: "#1b1e24", needed: "#58a6e0", scale: ["#23272f", "#c8e4fb"] },
  },
};
const figure = {
  data: [
    {
      type: "heatmap",
      colorscale: [
        [0, "#ffffff"],
        [1, "#1f77b4"],
      ],
      z: { dtype: "u1", bdata: "AAEF" },
      name: "#1f77b4 is blue",
    },
    {
      type: "heatmap",
      colorscale: [
        [0, "#f4f6f9"],
        [1, "#0b4377"],
      ],
    },
  ],
  layout: { shapes: [{ line: { color: "#ffffff" } }], meta: { title: "Roles" } },
};

describe("a figure's colours", () => {
  it("stay as they came on a light page, with the template beside them", () => {
    const light = painted(figure, "light", paints);
    expect(light.data).toBe(figure.data);
    expect(light.layout.template).toEqual({ layout: { font: {} } });
  });

  it("are replaced one for one on a dark page, and nothing else is", () => {
    const { data, layout } = painted(figure, "dark", paints);
    expect(data[0]).toEqual({
      ...figure.data[0],
      colorscale: [
        [0, "#1b1e24"],
        [1, "#58a6e0"],
      ],
    });
    expect(data[1]?.colorscale).toEqual([
      [0, "#23272f"],
      [1, "#c8e4fb"],
    ]);
    expect(layout.shapes).toEqual([{ line: { color: "#1b1e24" } }]);
    expect(figure.layout.shapes[0]?.line.color).toBe("#ffffff");
  });
});
