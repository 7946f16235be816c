// What every grid of heads shares: its size on the page, round corners, the selection, the arrow keys.
import { memo, useMemo } from "react";
import type { Figure } from "../api/types";
import { useTheme } from "../parts/theme";
import type { Head } from "../url/view";
import { cellPaths, cornerRadius, type Drawn, gridMeta, pixelsOf, turned } from "./grid";
import { colour, painted, usePaints } from "./paint";

/** Narrower than this, in pixels, a cell can't be hit by a finger: the grid scrolls sideways instead. */
const LEAST_CELL = 11;

const STEPS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The head an arrow key leads to, in the grid as it lies. */
export function stepped(
  head: Head | null,
  key: string,
  grid: { layers: number; heads: number },
  isTurned: boolean,
): Head | null {
  const step = STEPS[key];
  if (!step) return null;
  if (!head) return { layer: 0, head: 0 };
  const [across, down] = isTurned ? [step[1], step[0]] : step;
  return {
    layer: Math.min(grid.layers - 1, Math.max(0, head.layer + across)),
    head: Math.min(grid.heads - 1, Math.max(0, head.head + down)),
  };
}

export interface Laid {
  figure: Figure;
  drawn: Drawn;
  colours: { panel: string; line: string };
}

/** The server's grid laid and painted for this page. */
export function useLaid(figure: Figure, isTurned: boolean, available: number): Laid | undefined {
  const paints = usePaints();
  const { theme } = useTheme();
  return useMemo(() => {
    if (!paints || available === 0) return undefined;
    const laid = painted(isTurned ? turned(figure) : figure, theme, paints);
    const meta = gridMeta(laid);
    const columns = isTurned ? meta.heads : meta.layers;
    const width = Math.max(columns * LEAST_CELL + 80, Math.min(available, meta.max_width));
    // What is laid over the drawing relies on the margins that the layout names.
    const fixed = (axis: unknown) => ({ ...(axis as object), automargin: false });
    const { xaxis, yaxis, shapes, margin, ...layout } = laid.layout;
    const ownShapes = (shapes as { name?: string }[]).filter(({ name }) => name !== "cells");
    return {
      figure: {
        data: laid.data.map(withNarrowBar),
        layout: {
          ...layout,
          width,
          margin: { ...(margin as object), autoexpand: false },
          xaxis: fixed(xaxis),
          yaxis: fixed(yaxis),
          shapes: ownShapes,
        },
      },
      drawn: { width, height: Number(layout.height), turned: isTurned },
      colours: { panel: colour(paints, theme, "panel"), line: colour(paints, theme, "line") },
    };
  }, [figure, isTurned, theme, paints, available]);
}

/** A colour bar that stays inside the margin the layout names. */
function withNarrowBar(trace: Record<string, unknown>): Record<string, unknown> {
  return trace.showscale === true
    ? { ...trace, colorbar: { ...(trace.colorbar as object), x: 1, xpad: 8 } }
    : trace;
}

/** Round corners and the selection, over the drawing: they follow the hand without drawing it again. */
export const Overlay = memo(function Overlay({ laid, head }: { laid: Laid; head: Head | null }) {
  const { area, cells, filled } = useMemo(() => cellPaths(laid.figure, laid.drawn), [laid]);
  const { width, height } = laid.drawn;
  return (
    <svg className="grid-overlay" width={width} height={height} aria-hidden="true">
      <path className="grid-mask" d={area + filled} fillRule="evenodd" />
      <path className="grid-cells" d={cells} />
      {head && <Selection cell={pixelsOf(laid.figure, laid.drawn).cell(head)} />}
    </svg>
  );
});

function Selection({ cell: [x, y, width, height] }: { cell: [number, number, number, number] }) {
  const ring = (grow: number) => ({
    x: x - grow,
    y: y - grow,
    width: width + 2 * grow,
    height: height + 2 * grow,
    rx: cornerRadius(width, height) + grow,
  });
  return (
    <>
      <rect className="grid-halo" {...ring(1)} />
      <rect className="grid-selected" {...ring(2)} />
    </>
  );
}
