// Arcs from a token to where it stood before, over lines that wrap.

/** A token's box in the drawing, in pixels. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Arc {
  from: number;
  to: number;
  path: string;
}

/** So many arcs are still quiet; of more, only those of the selected token are drawn. */
export const MOST_ARCS = 160;

const n = (value: number) => Math.round(value * 10) / 10;

/** How high an arc rises over the higher of its ends. */
export function rise(across: number, down: number, room: number): number {
  return Math.min(room, 8 + 0.08 * Math.abs(across) + 0.25 * Math.abs(down));
}

function arcBetween(earlier: Box, later: Box, room: number): string {
  const [x1, x2] = [earlier.left + earlier.width / 2, later.left + later.width / 2];
  const top = Math.min(earlier.top, later.top) - (4 / 3) * rise(x2 - x1, later.top - earlier.top, room);
  return `M${n(x1)} ${n(earlier.top)}C${n(x1)} ${n(top)} ${n(x2)} ${n(top)} ${n(x2)} ${n(later.top)}`;
}

/** Each repeated token to its latest copy. `room`: the pixels between two lines. */
export function arcs(
  boxes: readonly (Box | undefined)[],
  copies: readonly (readonly number[])[],
  room: number,
): Arc[] {
  return copies.flatMap((earlier, to) => {
    const from = earlier.at(-1);
    const [a, b] = [from === undefined ? undefined : boxes[from], boxes[to]];
    return from !== undefined && a && b ? [{ from, to, path: arcBetween(a, b, room) }] : [];
  });
}

/** All arcs where they are few; else those that touch the selected token. */
export function shownArcs(all: readonly Arc[], token: number | null): Arc[] {
  return all.length <= MOST_ARCS ? [...all] : all.filter(({ from, to }) => from === token || to === token);
}
