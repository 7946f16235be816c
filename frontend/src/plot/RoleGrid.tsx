import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import type { Figure } from "../api/types";
import { percent } from "../format/numbers";
import { useTheme } from "../parts/theme";
import type { Head, View } from "../url/view";
import { allStripes, gridMeta, headAt, heatmapRows, outlined, rounded, turned } from "./grid";
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
  onFigure: (figure: Figure) => void;
}

interface Hovered {
  head: Head;
  x: number;
  y: number;
}

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

/** The drawing's stripes for a threshold and a mode: the server's figure with another z. */
function useStriped(figure: Figure, gates: Gates, view: View): Figure {
  const { threshold, mode, turned: down } = view;
  return useMemo(() => {
    const laid = down ? turned(figure) : figure;
    const z = heatmapRows(allStripes(gates, threshold, mode), down);
    return { ...laid, data: laid.data.map((trace, i) => (i === 0 ? { ...trace, z } : trace)) };
  }, [figure, gates, threshold, mode, down]);
}

export function RoleGrid({ figure, gates, view, onSelect, onOpen, onFigure }: RoleGridProps) {
  const box = useRef<HTMLDivElement>(null);
  const available = useWidth(box);
  const paints = usePaints();
  const { theme } = useTheme();
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const meta = gridMeta(figure);
  const striped = useStriped(figure, gates, view);
  const columns = view.turned ? meta.heads : meta.layers;
  // Below 11 px a cell can't be hit by a finger: the grid scrolls sideways instead.
  const width = Math.max(columns * 11 + 80, Math.min(available, gridMeta(striped).max_width));

  const clean = useMemo(() => {
    if (!paints || available === 0) return undefined;
    const { data, layout } = painted(striped, theme, paints);
    const sized = { data, layout: { ...layout, width } };
    const drawn = { width, height: Number(layout.height), turned: view.turned };
    return rounded(sized, drawn, {
      panel: colour(paints, theme, "panel"),
      line: colour(paints, theme, "line"),
    });
  }, [striped, theme, paints, available, width, view.turned]);

  const marked = useMemo(() => {
    if (!clean || !paints) return undefined;
    const drawn = { width, height: Number(clean.layout.height), turned: view.turned };
    return outlined(clean, view.head, drawn, {
      ink: colour(paints, theme, "ink"),
      panel: colour(paints, theme, "panel"),
    });
  }, [clean, paints, theme, view.head, view.turned, width]);

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
      style={{ minHeight: Number(striped.layout.height) }}
    >
      {marked && (
        <Plot
          figure={marked}
          onClick={(event) => {
            const head = under(event);
            if (head) onSelect(head);
          }}
          onHover={hover}
          onDrawn={() => clean && onFigure(clean)}
        />
      )}
      {hovered && <Tooltip hovered={hovered} gates={gates} threshold={view.threshold} />}
      <p className="visually-hidden" aria-live="polite">
        {view.head && view.head.layer < gates.layers && view.head.head < gates.heads
          ? `Layer ${view.head.layer}, head ${view.head.head}: ${mainRole(summarise(gates, view.head, view.threshold)).text}`
          : ""}
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
