// From a point of a drawing to the head it stands for: every picture of heads answers a click alike.
import type { Figure } from "../api/types";
import { type Head, parseHead } from "../url/view";
import { numbersOf } from "./arrays";
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
  for (const carried of [point.customdata, point.text, point.hovertext, point.id]) {
    const head = named(carried);
    if (head) return head;
  }
  return null;
}

function named(carried: unknown): Head | null {
  if (typeof carried === "string") return parseHead(carried);
  const [layer, head] =
    Array.isArray(carried) || ArrayBuffer.isView(carried) ? [...(carried as number[])] : [];
  return isPlace(layer) && isPlace(head) ? { layer, head } : null;
}

function isPlace(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
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
