// The circuits page's answers: an analysis that is done, one that isn't, and look-ups in one head's weights.
import { answering, type Network, type Routes } from "./network";
import { ABSENT, analysis, LARGE, model, run, token } from "./samples";

const WEIGHTS = {
  properties: { weight_processing: { enum: ["raw", "folded"], default: "folded", title: "Weights" } },
};

export const EIGEN = analysis("eigen", {
  title: "Eigenvalues",
  params_schema: WEIGHTS,
  figures: ["copying", "spectra"],
  head_figures: ["spectra"],
});
export const COMPOSITION = analysis("composition", {
  title: "Composition",
  params_schema: WEIGHTS,
  figures: ["q-graph", "k-graph"],
});

export const DONE = run({
  id: "e1",
  analysis: "eigen",
  title: "Eigenvalues",
  task: null,
  params: { weight_processing: "folded" },
});

/** A number a head in a grid of two layers of four. */
export function grid(title: string, value = 0.5) {
  const width = 2 * 2 - 1;
  const row = (head: number) =>
    Array.from({ length: width }, (_, i) => (i % 2 === 0 ? value + head / 100 + i / 20 : null));
  const gap = Array(width).fill(null);
  return {
    data: [{ type: "heatmap", z: [row(0), gap, row(1), gap, row(2), gap, row(3)], showscale: true }],
    layout: {
      height: 200,
      margin: { l: 50, r: 20, t: 10, b: 40 },
      xaxis: { range: [-0.5, 1.5], tickvals: [], ticktext: [] },
      yaxis: { range: [3.5, -0.5], tickvals: [], ticktext: [] },
      shapes: [{ name: "cells" }, { name: "kv-groups", line: { color: "#dddddd" } }],
      meta: {
        title,
        reading: `How to read ${title}.`,
        layers: 2,
        heads: 4,
        seeds: 1,
        cell_columns: 2,
        heads_per_group: 2,
        head_y: [0, 1, 2, 3],
        gap: [0.1, 0.1],
        max_width: 300,
      },
    },
  };
}

/** Dots, one a head, that carry it. */
export function dots(title: string, more: Record<string, unknown> = {}) {
  return {
    data: [
      {
        type: "scatter",
        x: [1, 2],
        y: [3, 4],
        customdata: [
          [0, 1],
          [1, 3],
        ],
        marker: { color: "#111111" },
      },
    ],
    layout: { height: 240, xaxis: {}, meta: { title, reading: "Each dot is a head.", ...more } },
  };
}

export const SCORES = {
  columns: [
    { name: "layer", title: "layer", unit: null },
    { name: "head", title: "head", unit: null },
    { name: "copying", title: "Copying score", unit: null },
    { name: "note", title: "Note", unit: null },
  ],
  rows: [
    [0, 0, 0.25, ""],
    [1, 3, 0.98765, "copies"],
  ],
};

export const [KEEP, MIND, BAY, IN, AT] = [
  token(40, " keep"),
  token(41, " mind"),
  token(42, " bay"),
  token(43, " in"),
  token(44, " at"),
] as const;

export function tables(circuit: "ov" | "qk", more: Record<string, unknown> = {}) {
  return {
    model: "tiny",
    circuit,
    layer: 1,
    head: 3,
    weight_processing: "folded",
    token: null,
    cells: [
      { row: KEEP, column: KEEP, value: 4 },
      { row: KEEP, column: MIND, value: -2 },
    ],
    column: [],
    vocabulary: 100,
    unit: "logits",
    limits: [],
    ...more,
  };
}

export function playCircuits(routes: Routes = {}): Network {
  return answering({
    "GET /api/v1/models": [model(), LARGE, ABSENT],
    "GET /api/v1/analyses": [EIGEN, COMPOSITION],
    "GET /api/v1/runs": { runs: [DONE], total: 1 },
    "GET /api/v1/runs/*/result": {
      analysis: "eigen",
      params: {},
      values: { notes: ["Biases are left out."] },
    },
    "GET /api/v1/runs/*/figures/copying": grid("Copying heads"),
    "GET /api/v1/runs/*/figures/spectra": dots("Spectrum", { head: "1.3" }),
    "GET /api/v1/runs/*/tables/copying": SCORES,
    "POST /api/v1/runs/estimate": { run_id: "x", existing: null, seconds: 30, refused: null },
    "POST /api/v1/circuits/tables": ({ body }: { body: { circuit?: unknown } }) =>
      tables(body.circuit === "qk" ? "qk" : "ov"),
    ...routes,
  });
}
