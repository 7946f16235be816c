import { type KeyboardEvent, useDeferredValue, useMemo, useRef, useState } from "react";
import type { Figure, MapWords } from "../api/types";
import { percent } from "../format/numbers";
import { useWidth } from "../parts/useWidth";
import type { Head, View } from "../url/view";
import { allStripes, gridMeta, headAt, heatmapRows, rounded } from "./grid";
import { Overlay, stepped, useLaid } from "./laid";
import { Plot } from "./Plot";
import type { PlotEvent } from "./plotly";
import { type Gates, mainRole, summarise, wordsOf } from "./roles";

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

/** The stripes for a threshold and a mode, as the heatmap's z. */
function useStripes(gates: Gates, { threshold, mode, turned: down }: View): Uint8Array[] {
  return useMemo(() => heatmapRows(allStripes(gates, threshold, mode), down), [gates, threshold, mode, down]);
}

function withStripes(figure: Figure, z: Uint8Array[]): Figure {
  return { ...figure, data: figure.data.map((trace, i) => (i === 0 ? { ...trace, z } : trace)) };
}

export function RoleGrid({ figure, gates, view, onSelect, onOpen, onFigure }: RoleGridProps) {
  const box = useRef<HTMLDivElement>(null);
  const available = useWidth(box);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const meta = gridMeta(figure);
  const words = wordsOf(figure);
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
      aria-label={`Role grid: ${gates.layers} layers of ${gates.heads} heads. Arrow keys choose a head, Enter opens its details; the Table button shows the same as numbers.`}
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
      {hovered && <Tooltip hovered={hovered} gates={gates} threshold={view.threshold} words={words} />}
      <p className="visually-hidden" aria-live="polite">
        {selected &&
          `Layer ${selected.layer}, head ${selected.head}: ${mainRole(summarise(gates, selected, view.threshold), words).text}`}
      </p>
    </div>
  );
}

interface TooltipProps {
  hovered: Hovered;
  gates: Gates;
  threshold: number;
  words: MapWords;
}

function Tooltip({ hovered, gates, threshold, words }: TooltipProps) {
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
          {words.roles[code]} in {summary.counts[code]} of {summary.seeds}
          <em>{words.terms[code]}</em>
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
