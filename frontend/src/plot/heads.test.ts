import { describe, expect, it } from "vitest";
import type { Figure } from "../api/types";
import { cellValues, headOf, isGrid, ringed } from "./heads";

const NaN_ = Number.NaN;
// Two layers of two heads, one number each: rows and columns of gaps between.
const grid: Figure = {
  data: [
    {
      type: "heatmap",
      z: [
        [0.1, NaN_, 0.2],
        [NaN_, NaN_, NaN_],
        [0.3, NaN_, NaN_],
      ],
    },
  ],
  layout: { meta: { layers: 2, heads: 2, cell_columns: 2 } },
};
const scatter: Figure = { data: [{ type: "scatter" }], layout: {} };

describe("a point of a drawing", () => {
  it("in a grid is the head whose cell it lies in, and none in a gap", () => {
    expect(isGrid(grid)).toBe(true);
    expect(headOf({ curveNumber: 0, pointNumber: [2, 0] }, grid)).toEqual({ layer: 0, head: 1 });
    expect(headOf({ curveNumber: 0, pointNumber: [0, 2] }, grid)).toEqual({ layer: 1, head: 0 });
    expect(headOf({ curveNumber: 0, pointNumber: [1, 0] }, grid)).toBeNull();
    expect(headOf({ curveNumber: 0, pointNumber: [0, 1] }, grid)).toBeNull();
  });

  it("elsewhere is the head that it carries", () => {
    const point = { curveNumber: 0, pointNumber: 3 };
    expect(headOf({ ...point, customdata: [17, 4] }, scatter)).toEqual({ layer: 17, head: 4 });
    expect(headOf({ ...point, customdata: new Int16Array([1, 5]) }, scatter)).toEqual({ layer: 1, head: 5 });
    expect(headOf({ ...point, text: "17.4" }, scatter)).toEqual({ layer: 17, head: 4 });
    expect(headOf({ ...point, customdata: [0.5, 1], text: "0.52 nats" }, scatter)).toBeNull();
    expect(headOf({ ...point, x: "1.5", y: 0.9 }, scatter)).toEqual({ layer: 1, head: 5 });
    expect(headOf({ ...point, x: "K ← 0.3", y: 0.9 }, scatter)).toEqual({ layer: 0, head: 3 });
    expect(headOf({ ...point, x: 1.5, y: 0.9 }, scatter)).toBeNull();
    expect(headOf(point, scatter)).toBeNull();
    expect(headOf(undefined, scatter)).toBeNull();
  });

  it("of the selected head gets a ring", () => {
    const dots = (customdata: unknown): Figure => ({
      data: [{ type: "scatter", x: [0.1, 0.2], y: [0.3, 0.4], customdata }],
      layout: {},
    });
    const typed = {
      dtype: "u2",
      shape: "2, 2",
      bdata: btoa("\u0000\u0000\u0001\u0000\u0001\u0000\u0005\u0000"),
    };
    for (const figure of [
      dots([
        [0, 1],
        [1, 5],
      ]),
      dots(typed),
    ]) {
      const ring = ringed(figure, { layer: 1, head: 5 }, "#000000").data[1];
      expect([ring?.x, ring?.y]).toEqual([[0.2], [0.4]]);
      expect(ringed(figure, { layer: 3, head: 5 }, "#000000").data).toHaveLength(1);
      expect(ringed(figure, null, "#000000")).toBe(figure);
    }
  });

  it("has a value where its head has one", () => {
    expect(cellValues(grid)).toEqual([
      [0.1, 0.3],
      [0.2, NaN_],
    ]);
  });
});
