import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef } from "react";
import { useTheme } from "../../parts/theme";
import { useWidth } from "../../parts/useWidth";
import { writtenShort } from "../../tokens/visible";
import { raster } from "../pattern/raster";
import { columnsOut, ramp } from "../pattern/shade";
import { type Cells, type Pattern, pooled, thumbCells } from "../pattern/triangle";
import type { Look } from "../state/look";
import { usePointed } from "../state/pointed";
import { axesFor, paintHead } from "./paintHead";

interface HeadPatternProps {
  look: Look;
  at: number;
  name: string;
  /** Whole, or null while it is on its way: the small picture stands in. */
  pattern: Pattern | null;
  sink: boolean;
  locked: readonly number[];
  onLock: (token: number) => void;
}

/** Cells a side that a screen can show. */
const MOST_CELLS = 512;

/** Characters of a name beside the pattern. */
const LONGEST = 9;

export function HeadPattern({ look, at, name, pattern, sink, locked, onLock }: HeadPatternProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const { theme } = useTheme();
  const { token, point } = usePointed();
  const n = look.tokens.length;
  const axes = axesFor(width, n);
  const cells = useMemo<Cells>(() => {
    const { size, block, values } = look.thumbs;
    return pattern ? pooled(pattern, MOST_CELLS) : thumbCells(values, at, size, block);
  }, [look, at, pattern]);
  const picture = useMemo(
    () => raster(cells, columnsOut(look.tokens, cells.block, sink), ramp(theme)),
    [cells, look, sink, theme],
  );
  const names = useMemo(() => look.tokens.map((token) => writtenShort(token, LONGEST)), [look]);
  useEffect(() => {
    if (canvas.current && width > 0)
      paintHead(canvas.current, { cells: picture, axes, names, token, locked });
  });

  const under = (event: MouseEvent): number | null => {
    const bounds = canvas.current?.getBoundingClientRect();
    if (!bounds) return null;
    const row = Math.floor((event.clientY - bounds.top - axes.top) / axes.step);
    const column = Math.floor((event.clientX - bounds.left - axes.left) / axes.step);
    if (column < 0) return row >= 0 && row < n ? row : null;
    if (row < 0) return column < n ? column : null;
    return row < n && column < n ? row : null;
  };
  const key = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 };
    const step = steps[event.key];
    if (step !== undefined) point(Math.min(n - 1, Math.max(0, (token ?? (step > 0 ? -1 : n)) + step)));
    else if ((event.key === "Enter" || event.key === " ") && token !== null) onLock(token);
    else if (event.key === "Escape") point(null);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={box}
      className="head-pattern"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move from row to row
      tabIndex={0}
      role="application"
      aria-label={`Pattern of head ${name} on ${n} tokens: rows look at columns. Arrow keys choose a token, Enter pins it; the text under the tokens says where it looks.`}
      onKeyDown={key}
    >
      <canvas
        ref={canvas}
        style={{ width: axes.left + axes.side, height: axes.top + axes.side }}
        onMouseMove={(event) => point(under(event))}
        onMouseLeave={() => point(null)}
        onClick={(event) => {
          const row = under(event);
          if (row !== null) onLock(row);
        }}
      />
    </div>
  );
}
