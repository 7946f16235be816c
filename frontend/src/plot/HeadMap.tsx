import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import type { Figure } from "../api/types";
import { measured, NOTHING } from "../format/numbers";
import { useWidth } from "../parts/useWidth";
import type { Head } from "../url/view";
import { gridMeta, rounded } from "./grid";
import { cellValues, headOf } from "./heads";
import { Overlay, stepped, useLaid } from "./laid";
import { Plot } from "./Plot";
import type { PlotEvent } from "./plotly";

interface HeadMapProps {
  figure: Figure;
  label: string;
  head: Head | null;
  onSelect: ((head: Head | null) => void) | undefined;
  /** The picture to save, once there is one. */
  onFigure: (figure: Figure) => void;
}

/** A grid of heads with a number or a word each: click or arrow keys select, hover tells it. */
export function HeadMap({ figure, label, head, onSelect, onFigure }: HeadMapProps) {
  const box = useRef<HTMLDivElement>(null);
  const laid = useLaid(figure, false, useWidth(box));
  const [hovered, setHovered] = useState<{ head: Head; x: number; y: number } | null>(null);
  const values = useMemo(() => cellValues(figure), [figure]);
  const meta = gridMeta(figure);
  const selected = head && head.layer < meta.layers && head.head < meta.heads ? head : null;
  const told = useRef(onFigure);
  told.current = onFigure;
  useEffect(() => {
    if (laid) told.current(rounded(laid.figure, laid.drawn, laid.colours));
  }, [laid]);
  const hover = (event: PlotEvent | null) => {
    const under = event && headOf(event.points[0], figure);
    setHovered(under && event ? { head: under, x: event.event.clientX, y: event.event.clientY } : null);
  };
  const key = (event: KeyboardEvent) => {
    if (!onSelect || event.metaKey || event.ctrlKey || event.altKey) return;
    const next = stepped(selected, event.key, meta, false);
    if (next) onSelect(next);
    else if (event.key === "Escape" && head) onSelect(null);
    else return;
    event.preventDefault();
  };
  const value = (of: Head) => {
    const number = values[of.layer]?.[of.head];
    return meta.words ? (meta.words[number ?? -1] ?? NOTHING) : measured(number);
  };
  return (
    <div
      ref={box}
      className="role-grid head-map"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move through the heads
      tabIndex={0}
      role="application"
      aria-label={`${label}: ${meta.layers} layers of ${meta.heads} heads. Arrow keys choose a head; the Table button shows the same as numbers.`}
      onKeyDown={key}
      onMouseLeave={() => setHovered(null)}
      style={{ minHeight: Number(figure.layout.height) || undefined }}
    >
      {laid && (
        <Plot
          figure={laid.figure}
          onClick={(event) => {
            const under = headOf(event.points[0], figure);
            if (under) onSelect?.(under);
          }}
          onHover={hover}
        />
      )}
      {laid && <Overlay laid={laid} head={selected} />}
      {hovered && (
        <div
          className={`tooltip${hovered.x > window.innerWidth - 280 ? " left" : ""}${hovered.y < 220 ? " below" : ""}`}
          style={{ left: hovered.x, top: hovered.y }}
          aria-hidden="true"
        >
          <strong>
            Layer {hovered.head.layer} · head {hovered.head.head}
          </strong>
          <span className="tooltip-row numbers">
            {label}
            <b>{value(hovered.head)}</b>
          </span>
        </div>
      )}
      <p className="visually-hidden" aria-live="polite">
        {selected && `Layer ${selected.layer}, head ${selected.head}: ${value(selected)}`}
      </p>
    </div>
  );
}
