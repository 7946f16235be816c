import { type KeyboardEvent, memo, useDeferredValue, useMemo, useRef, useState } from "react";
import type { Figure } from "../api/types";
import { percent } from "../format/numbers";
import { useTheme } from "../parts/theme";
import type { Head, View } from "../url/view";
import {
  allStripes,
  cellPaths,
  cornerRadius,
  type Drawn,
  gridMeta,
  headAt,
  heatmapRows,
  pixelsOf,
  rounded,
  turned,
} from "./grid";
import { Plot, useWidth } from "./Plot";
import { colour, painted, usePaints } from "./paint";
import type { PlotEvent } from "./plotly";
import { type Gates, mainRole, ROLE_NAMES, ROLE_TERMS, summarise } from "./roles";

interface RoleGridProps {
  figure: Figure;
  gates: Gates;
  view: View;
  onSelect: (head: Head | null) => void;
  onOpen: () => void;
  /** How the picture to save is made, once there is one. */
  onFigure: (figure: () => Figure) => void;
}

interface Hovered {
  head: Head;
  x: number;
  y: number;
}

/** Narrower than this, in pixels, a cell can't be hit by a finger: the grid scrolls sideways instead. */
const LEAST_CELL = 11;

const STEPS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The head an arrow key leads to, in the grid as it lies. */
export function stepped(head: Head | null, key: string, gates: Gates, isTurned: boolean): Head | null {
  const step = STEPS[key];
  if (!step) return null;
  if (!head) return { layer: 0, head: 0 };
  const [across, down] = isTurned ? [step[1], step[0]] : step;
  return {
    layer: Math.min(gates.layers - 1, Math.max(0, head.layer + across)),
    head: Math.min(gates.heads - 1, Math.max(0, head.head + down)),
  };
}

/** The stripes for a threshold and a mode, as the heatmap's z. */
function useStripes(gates: Gates, { threshold, mode, turned: down }: View): Uint8Array[] {
  return useMemo(() => heatmapRows(allStripes(gates, threshold, mode), down), [gates, threshold, mode, down]);
}

interface Laid {
  figure: Figure;
  drawn: Drawn;
  colours: { panel: string; line: string };
}

/** The server's figure laid and painted for this page; all but its z, which follows the slider. */
function useLaid(figure: Figure, isTurned: boolean, available: number): Laid | undefined {
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
    const { xaxis, yaxis, shapes, ...layout } = laid.layout;
    const ownShapes = (shapes as { name?: string }[]).filter(({ name }) => name !== "cells");
    return {
      figure: {
        ...laid,
        layout: { ...layout, width, xaxis: fixed(xaxis), yaxis: fixed(yaxis), shapes: ownShapes },
      },
      drawn: { width, height: Number(layout.height), turned: isTurned },
      colours: { panel: colour(paints, theme, "panel"), line: colour(paints, theme, "line") },
    };
  }, [figure, isTurned, theme, paints, available]);
}

function withStripes(figure: Figure, z: Uint8Array[]): Figure {
  return { ...figure, data: figure.data.map((trace, i) => (i === 0 ? { ...trace, z } : trace)) };
}

/** Round corners and the selection, over the drawing: they follow the hand without drawing it again. */
const Overlay = memo(function Overlay({ laid, head }: { laid: Laid; head: Head | null }) {
  const { area, cells } = useMemo(() => cellPaths(laid.figure, laid.drawn), [laid]);
  const { width, height } = laid.drawn;
  return (
    <svg className="grid-overlay" width={width} height={height} aria-hidden="true">
      <path className="grid-mask" d={area + cells} fillRule="evenodd" />
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

export function RoleGrid({ figure, gates, view, onSelect, onOpen, onFigure }: RoleGridProps) {
  const box = useRef<HTMLDivElement>(null);
  const available = useWidth(box);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const meta = gridMeta(figure);
  // The slider goes first, the stripes follow as fast as they are drawn.
  const z = useDeferredValue(useStripes(gates, view));
  const laid = useLaid(figure, view.turned, available);
  const drawn = useMemo(() => laid && withStripes(laid.figure, z), [laid, z]);
  const selected =
    view.head && view.head.layer < meta.layers && view.head.head < meta.heads ? view.head : null;
  const save = () => {
    if (laid && drawn) onFigure(() => rounded(drawn, laid.drawn, laid.colours));
  };

  const under = (event: PlotEvent): Head | null => {
    const point = event.points[0];
    return point ? headAt(point.pointNumber, meta, view.turned) : null;
  };
  const hover = (event: PlotEvent | null) => {
    const head = event && under(event);
    setHovered(head && event ? { head, x: event.event.clientX, y: event.event.clientY } : null);
  };
  const key = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const next = stepped(view.head, event.key, gates, view.turned);
    if (next) onSelect(next);
    else if (event.key === "Enter" && view.head) onOpen();
    else if (event.key === "Escape" && view.head) onSelect(null);
    else return;
    event.preventDefault();
  };

  return (
    <div
      ref={box}
      className="role-grid"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move through the heads
      tabIndex={0}
      role="application"
      aria-label={`Role grid: ${gates.layers} layers of ${gates.heads} heads. Arrow keys choose a head, Enter opens its passport; the Table button shows the same as numbers.`}
      onKeyDown={key}
      onMouseLeave={() => setHovered(null)}
      style={{ minHeight: Number((view.turned ? laid?.figure : figure)?.layout.height) || undefined }}
    >
      {drawn && (
        <Plot
          figure={drawn}
          onClick={(event) => {
            const head = under(event);
            if (head) onSelect(head);
          }}
          onHover={hover}
          onDrawn={save}
        />
      )}
      {laid && <Overlay laid={laid} head={selected} />}
      {hovered && <Tooltip hovered={hovered} gates={gates} threshold={view.threshold} />}
      <p className="visually-hidden" aria-live="polite">
        {selected &&
          `Layer ${selected.layer}, head ${selected.head}: ${mainRole(summarise(gates, selected, view.threshold)).text}`}
      </p>
    </div>
  );
}

function Tooltip({ hovered, gates, threshold }: { hovered: Hovered; gates: Gates; threshold: number }) {
  const { head, x, y } = hovered;
  const summary = summarise(gates, head, threshold);
  const roles = [1, 3, 2, 4, 0].filter((code) => (summary.counts[code] ?? 0) > 0);
  const right = x > window.innerWidth - 280;
  const below = y < 220;
  return (
    <div
      className={`tooltip${right ? " left" : ""}${below ? " below" : ""}`}
      style={{ left: x, top: y }}
      aria-hidden="true"
    >
      <strong>
        Layer {head.layer} · head {head.head}
      </strong>
      {roles.map((code) => (
        <span key={code} className="tooltip-row">
          <i className={`swatch role-${code}`} />
          {ROLE_NAMES[code]} in {summary.counts[code]} of {summary.seeds}
          <em>{ROLE_TERMS[code]}</em>
        </span>
      ))}
      {(["minus", "plus"] as const).map((which) => (
        <span key={which} className="tooltip-row numbers">
          {which === "minus" ? "G− pushed shut" : "G+ pushed open"}
          <b>{gateRange(summary[which])}</b>
        </span>
      ))}
    </div>
  );
}

function gateRange(values: number[]): string {
  const known = values.filter(Number.isFinite);
  if (known.length === 0) return "–";
  const low = Math.min(...known);
  const high = Math.max(...known);
  return percent(low) === percent(high) ? percent(low) : `${percent(low)} – ${percent(high)}`;
}
