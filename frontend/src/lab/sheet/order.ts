// Which heads are shown, and in which order.
import type { LabSort, LabView } from "../../url/lab";
import { type Look, scoreOf } from "../state/look";

/** Low is strong: a head that looks at one token has no entropy. */
const LOW_FIRST: ReadonlySet<LabSort> = new Set(["entropy"]);

/** Indices (layer × head) of the heads to show. NaN comes last, ties stay in the model's order. */
export function ordered(look: Look, { sort, least }: Pick<LabView, "sort" | "least">): number[] {
  const all = Array.from({ length: look.layers * look.heads }, (_, i) => i);
  const scored = scoreOf(look, sort);
  if (!scored) return all;
  const { values } = scored;
  // Scores are float32: a head of 0.7 is one of "at least 0.7".
  const limit = Math.fround(least);
  const sign = LOW_FIRST.has(sort) ? 1 : -1;
  const rank = (at: number) => {
    const value = values[at] ?? Number.NaN;
    return Number.isNaN(value) ? Number.POSITIVE_INFINITY : sign * value;
  };
  return all
    .filter((at) => least <= 0 || (values[at] ?? Number.NaN) >= limit)
    .sort((a, b) => (rank(a) === rank(b) ? a - b : rank(a) - rank(b)));
}

/** How a contact sheet lies in a width. All lengths in CSS pixels. */
export interface Sheet {
  columns: number;
  rows: number;
  side: number;
  rowHeight: number;
  gap: number;
}

export const LABEL = 20;
const LEAST_SIDE = 96;

export function sheet(width: number, n: number): Sheet {
  const gap = width < 480 ? 8 : 12;
  const columns = Math.max(2, Math.floor((width + gap) / (LEAST_SIDE + gap)));
  const side = Math.max(24, (width - gap * (columns - 1)) / columns);
  return { columns, rows: Math.ceil(n / columns), side, rowHeight: side + LABEL + gap, gap };
}

/** Which place in the sheet a point hits, or null between them. */
export function placeAt(
  { columns, side, rowHeight, gap }: Sheet,
  x: number,
  y: number,
  n: number,
): number | null {
  const column = Math.floor(x / (side + gap));
  const row = Math.floor(y / rowHeight);
  const inside = x - column * (side + gap) <= side && y - row * rowHeight <= side + LABEL;
  const at = row * columns + column;
  return inside && x >= 0 && y >= 0 && column < columns && at < n ? at : null;
}

/** Where a key leads from a place; null for other keys. */
export function stepped(at: number, key: string, { columns }: Sheet, n: number, page: number): number | null {
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    PageUp: -columns * page,
    PageDown: columns * page,
  };
  if (key === "Home") return 0;
  if (key === "End") return n - 1;
  const step = steps[key];
  if (step === undefined || n === 0) return null;
  const next = at + step;
  return next < 0 || next >= n ? Math.min(n - 1, Math.max(0, Math.abs(step) === 1 ? next : at)) : next;
}
