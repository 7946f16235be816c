import { describe, expect, it } from "vitest";
import type { Figure } from "../api/types";
import { turned } from "./grid";

const figure = (outlined?: [number, number][]): Figure =>
  ({
    data: [{ type: "heatmap" }],
    layout: {
      height: 200,
      margin: { l: 52, r: 16, t: 10, b: 48 },
      xaxis: { range: [-0.5, 1.5], tickvals: [], ticktext: [], title: {} },
      yaxis: { range: [2.5, -0.5], tickvals: [], ticktext: [], title: {} },
      shapes: outlined ? [{ name: "outlined", type: "path", path: "M0 0Z" }] : [],
      meta: {
        layers: 2,
        heads: 3,
        seeds: 1,
        cell_columns: 2,
        heads_per_group: 1,
        head_y: [0, 1, 2],
        gap: [0.1, 0.1],
        max_width: 200,
        ...(outlined && { outlined }),
      },
    },
  }) as unknown as Figure;

describe("frames round heads", () => {
  it("go with the cells when layers run down", () => {
    const [frame] = turned(figure([[0, 2]])).layout.shapes as { path: string }[];
    expect(frame?.path).toBe("M1.55 -0.45H2.45V0.45H1.55Z");
  });
  it("are not there where none is framed", () => {
    expect(turned(figure()).layout.shapes).toEqual([]);
  });
});
