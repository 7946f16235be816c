// Every picture's twin in words: the same numbers as rows. For drawings that show many lines at once the
// silent traces (bands, single seeds) are left out, as they are from the legend.
import type { Figure } from "../api/types";
import { number } from "../format/numbers";
import { decode, isTypedArray, numbersOf } from "./arrays";
import { finishedSeeds, type Gates, ROLE_NAMES, summarise } from "./roles";

export interface Table {
  columns: string[];
  rows: (string | number)[][];
}

/** The role grid: a row for each head, strongest layers first as they stand. */
export function rolesTable(gates: Gates, threshold: number): Table {
  const n = finishedSeeds(gates).filter(Boolean).length;
  const rows: (string | number)[][] = [];
  for (let layer = 0; layer < gates.layers; layer += 1) {
    for (let head = 0; head < gates.heads; head += 1) {
      const { counts, means } = summarise(gates, { layer, head }, threshold);
      const seeds = [1, 3, 2, 4, 0].map((code) => `${counts[code] ?? 0}/${n}`);
      const scores = [means.facilitation, means.interference, means.irrelevance].map(number);
      rows.push([layer, head, ...seeds, ...scores]);
    }
  }
  const roles = [1, 3, 2, 4, 0].map((code) => ROLE_NAMES[code] ?? "");
  return { columns: ["layer", "head", ...roles, "facilitation", "interference", "irrelevance"], rows };
}

function title(axis: unknown): string {
  const text = (axis as { title?: { text?: string } } | undefined)?.title?.text;
  return typeof text === "string" ? text : "";
}

function values(axis: unknown): (string | number)[] {
  if (isTypedArray(axis)) return Array.from(decode(axis).values);
  return Array.isArray(axis) ? (axis as (string | number)[]) : [];
}

function cell(value: string | number | undefined): string | number {
  if (value === undefined) return "–";
  return typeof value === "number" ? number(value) : value;
}

/** Score maps: layer, head, value. */
export function mapTable(figure: Figure, name: string): Table {
  const trace = figure.data[0] ?? {};
  const z = trace.z;
  const meta = figure.layout.meta as { layers: number; heads: number; cell_columns: number } | undefined;
  if (!meta) return { columns: [], rows: [] };
  const flat = numbersOf(z);
  const width = meta.layers * meta.cell_columns - 1;
  const rows: (string | number)[][] = [];
  for (let layer = 0; layer < meta.layers; layer += 1) {
    for (let head = 0; head < meta.heads; head += 1) {
      rows.push([layer, head, number(flat[2 * head * width + layer * meta.cell_columns])]);
    }
  }
  return { columns: ["layer", "head", name], rows };
}

/** Curves and bars: one column for what lies along the bottom, one for each named trace with the same places. */
export function curvesTable(figure: Figure): Table {
  const traces = figure.data.filter((trace) => trace.showlegend !== false || trace.name !== undefined);
  const along = title(figure.layout.xaxis) || "x";
  const first = traces[0];
  if (!first) return { columns: [], rows: [] };
  const same = traces.every((trace) => values(trace.x).join() === values(first.x).join());
  const names = traces.map((trace, i) => String(trace.name ?? `series ${i + 1}`));
  if (same) {
    const ys = traces.map((trace) => values(trace.y));
    return {
      columns: [along, ...names],
      rows: values(first.x).map((x, i) => [cell(x), ...ys.map((y) => cell(y[i]))]),
    };
  }
  const up = title(figure.layout.yaxis) || "y";
  return {
    columns: ["series", along, up],
    rows: traces.flatMap((trace, i) => {
      const ys = values(trace.y);
      return values(trace.x).map((x, j) => [names[i] ?? "", cell(x), cell(ys[j])]);
    }),
  };
}
