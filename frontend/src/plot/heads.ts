// From a point of a drawing to the head it stands for: every picture of heads answers a click alike.
import type { Figure } from "../api/types";
import { type Head, parseHead } from "../url/view";
import { decode, isTypedArray, numbersOf } from "./arrays";
import { type GridMeta, gridMeta, headAt } from "./grid";
import type { PlotPoint } from "./plotly";

/** Whether a figure is a grid of heads, in which a cell's place says which head it is. */
export function isGrid(figure: Figure | undefined): figure is Figure {
  return figure?.layout.meta?.cell_columns !== undefined;
}

/** The head that a point names: by its place in a grid, or by "17.4" or [17, 4] in what the point carries. */
export function headOf(point: PlotPoint | undefined, figure: Figure): Head | null {
  if (!point) return null;
  if (isGrid(figure)) return headAt(point.pointNumber, gridMeta(figure), false);
  // A category of an axis may be a head; of a pair of them, the later one.
  for (const carried of [point.customdata, point.text, point.hovertext, point.id, point.x, point.y]) {
    const head = named(carried);
    if (head) return head;
  }
  return null;
}

function named(carried: unknown): Head | null {
  if (typeof carried === "string") return parseHead(carried.split(" ").at(-1) ?? null);
  const [layer, head] =
    Array.isArray(carried) || ArrayBuffer.isView(carried) ? [...(carried as number[])] : [];
  return isPlace(layer) && isPlace(head) ? { layer, head } : null;
}

function isPlace(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

/** A ring round the selected head, where the figure has a dot for it. */
export function ringed(figure: Figure, head: Head | null, ink: string): Figure {
  if (!head) return figure;
  const rings = figure.data.flatMap((trace) => {
    const at = rowsOf(trace.customdata).findIndex(
      ([layer, number]) => layer === head.layer && number === head.head,
    );
    if (at < 0 || trace.type !== "scatter") return [];
    const { xaxis, yaxis } = trace;
    return [
      {
        type: "scatter",
        mode: "markers",
        x: [numbersOf(trace.x)[at]],
        y: [numbersOf(trace.y)[at]],
        ...(xaxis ? { xaxis } : {}),
        ...(yaxis ? { yaxis } : {}),
        marker: { symbol: "circle-open", size: 18, color: ink, line: { width: 2, color: ink } },
        hoverinfo: "skip",
        showlegend: false,
      },
    ];
  });
  return { ...figure, data: [...figure.data, ...rings] };
}

/** What a trace's points carry, where it is a pair of numbers each. */
function rowsOf(carried: unknown): [number, number][] {
  const flat = numbersOf(carried);
  const pairs =
    isTypedArray(carried) && decode(carried).shape[1] === 2
      ? flat.length / 2
      : Array.isArray(carried) && carried.every((one) => Array.isArray(one) && one.length === 2)
        ? carried.length
        : 0;
  return Array.from({ length: pairs }, (_, i) => [flat[2 * i] ?? Number.NaN, flat[2 * i + 1] ?? Number.NaN]);
}

/** The value of each head in a grid of one number a head: `[layer][head]`; NaN where it has none. */
export function cellValues(figure: Figure): number[][] {
  const meta: GridMeta = gridMeta(figure);
  const z = numbersOf(figure.data[0]?.z);
  const width = meta.layers * meta.cell_columns - 1;
  return Array.from({ length: meta.layers }, (_, layer) =>
    Array.from(
      { length: meta.heads },
      (_, head) => z[2 * head * width + layer * meta.cell_columns] ?? Number.NaN,
    ),
  );
}
