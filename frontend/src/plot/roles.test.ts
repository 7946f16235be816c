import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { TypedArray } from "../api/types";
import { allStripes, headAt, heatmapRows } from "./grid";
import { gatesOf, mainRole, roleCodes, shares, summarise } from "./roles";

interface Case {
  name: string;
  threshold: number;
  g_plus: TypedArray;
  g_minus: TypedArray;
  codes: number[][][];
  z: Record<"every" | "always" | "any", number[][]>;
}

// The same cases hold headscope.core.roles and headscope.figures.head_grid: see tests/figures.
const { cases } = JSON.parse(readFileSync("../tests/golden/roles.json", "utf8")) as { cases: Case[] };
const rows = (z: Uint8Array[]) => z.map((row) => Array.from(row));

describe.each(cases)("$name", (golden) => {
  const gates = gatesOf(golden);

  it("has the roles worked by hand", () => {
    expect(Array.from(roleCodes(gates, golden.threshold))).toEqual(golden.codes.flat(2));
  });

  it.each(["every", "always", "any"] as const)("draws %s as Python does", (mode) => {
    expect(rows(heatmapRows(allStripes(gates, golden.threshold, mode), false))).toEqual(golden.z[mode]);
  });
});

it("doesn't say of a head that costs much to close that it doesn't matter", () => {
  const column = (values: number[]): TypedArray => ({
    dtype: "f4",
    shape: `1, ${values.length}`,
    bdata: btoa(String.fromCharCode(...new Uint8Array(new Float32Array(values).buffer))),
  });
  const ofOneSeed = (values: number[]): TypedArray => ({
    ...column(values),
    shape: `1, 1, ${values.length}`,
  });
  const stored = { g_plus: ofOneSeed([0.9, 0.9, 0.9]), g_minus: ofOneSeed([0.4, 0.4, 0.6]) };
  const plain = gatesOf(stored);
  expect(Array.from(roleCodes(plain, 0.5))).toEqual([4, 4, 1]);
  const gates = gatesOf({
    ...stored,
    closed_rise: column([10, 0.2, 10]),
    closed_rise_se: column([0.5, 0.1, 0.5]),
  });
  expect(Array.from(roleCodes(gates, 0.5))).toEqual([0, 4, 1]);
  expect(summarise(gates, { layer: 0, head: 0 }, 0.5).codes).toEqual([0]);
});

describe("the role grid", () => {
  const [first] = cases as [Case];
  const gates = gatesOf(first);
  const stripes = allStripes(gates, 0.5, "every");
  const meta = {
    layers: 2,
    heads: 2,
    seeds: 3,
    cell_columns: 4,
    heads_per_group: 1,
    head_y: [0, 1],
    gap: [0.1, 0.1] as [number, number],
    max_width: 500,
  };

  it("turned has the same cells with the axes changed", () => {
    const straight = rows(heatmapRows(stripes, false));
    const down = rows(heatmapRows(stripes, true));
    for (const layer of [0, 1]) {
      for (const head of [0, 1]) {
        const cell = (z: number[][], row: number, column: number) =>
          z[2 * row]?.slice(4 * column, 4 * column + 3);
        expect(cell(down, layer, head)).toEqual(cell(straight, head, layer));
      }
    }
  });

  it("knows the head under a point, and none in a gap", () => {
    expect(headAt([2, 5], meta, false)).toEqual({ layer: 1, head: 1 });
    expect(headAt([2, 1], meta, true)).toEqual({ layer: 1, head: 0 });
    expect(headAt([1, 5], meta, false)).toBeNull();
    expect(headAt([0, 3], meta, false)).toBeNull();
    expect(headAt(7, meta, false)).toBeNull();
  });
});

describe("numbers read off gates", () => {
  const [first, failed] = cases as [Case, Case];

  it("gives Always and Any, a seed without a fit left out", () => {
    // Needed in every seed: head 0.0 alone (codes 1, 1, 1); in some: all four.
    expect(shares(gatesOf(first), 0.5).needed).toEqual({ always: 0.25, any: 1 });
    expect(shares(gatesOf(failed), 0.5).needed.always).toBe(0.25);
    expect(shares(gatesOf(cases[3] as Case), 0.5).needed.always).toBeNaN();
  });

  it("sums up a head in words", () => {
    const summary = summarise(gatesOf(failed), { layer: 0, head: 0 }, 0.5);
    expect(summary.seeds).toBe(2);
    expect(mainRole(summary).text).toBe("needed in 2 of 2 seeds");
    expect(summary.means.facilitation).toBeCloseTo(0.8, 6);
    const none = summarise(gatesOf(cases[3] as Case), { layer: 0, head: 1 }, 0.5);
    expect(mainRole(none).text).toBe("no finished seed");
  });
});
