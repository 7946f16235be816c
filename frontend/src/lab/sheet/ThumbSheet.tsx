import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useTheme } from "../../parts/theme";
import { useWidth } from "../../parts/useWidth";
import { type Head, headName } from "../../url/heads";
import { ramp } from "../pattern/shade";
import { headAt as headOf, indexOf } from "../state/gates";
import type { Look } from "../state/look";
import { headInWords } from "../words";
import { placeAt, sheet, stepped } from "./order";
import { paintSheet, type SheetPicture } from "./paintSheet";
import { type Thumb, ThumbnailCache } from "./thumbnailCache";

interface ThumbSheetProps {
  look: Look;
  order: readonly number[];
  /** The score under each head; none where they are sorted by layer. */
  scores: Float32Array | null;
  sink: boolean;
  gates: Float32Array;
  head: Head | null;
  onSelect: (head: Head | null) => void;
  onMute: (head: Head) => void;
  onOpen: (head: Head) => void;
}

/** Milliseconds of a frame for making pictures: scrolling stays smooth. A few are made whatever else a frame takes. */
const SLICE = 20;
const LEAST_MADE = 3;

/** Small pictures of heads, made as they come into sight and kept. */
function usePictures(look: Look, sink: boolean) {
  const { theme } = useTheme();
  return useMemo(() => {
    const cache = new ThumbnailCache(look, sink, ramp(theme));
    let inFrame = 0;
    let frame = 0;
    return (at: number, began: number): Thumb | null => {
      if (cache.has(at)) return cache.of(at);
      if (began !== frame) [frame, inFrame] = [began, 0];
      if (inFrame >= LEAST_MADE && performance.now() > began + SLICE) return null;
      inFrame += 1;
      return cache.of(at);
    };
  }, [look, sink, theme]);
}

export function ThumbSheet(props: ThumbSheetProps) {
  const { look, order, scores, gates, head, onSelect } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const [hovered, setHovered] = useState<number | null>(null);
  const pictures = usePictures(look, props.sink);
  const laid = useMemo(() => sheet(width, order.length), [width, order.length]);
  const selected = head ? indexOf(look, head) : null;
  const place = selected === null ? -1 : order.indexOf(selected);
  const drawn = useRef<Omit<SheetPicture, "picture">>(null);
  drawn.current = {
    sheet: laid,
    order,
    name: (at) => headName(headOf(look, at)),
    score: (at) => (scores ? (scores[at] ?? Number.NaN) : null),
    muted: (at) => (gates[at] ?? 1) < 0.5,
    selected,
    hovered,
  };

  // Every render and every scroll asks for a frame; what isn't made in one is made in the next.
  const paint = useRef<() => void>(() => {});
  useEffect(() => {
    let frame = 0;
    const now = () => {
      frame = 0;
      if (!canvas.current || !box.current || !drawn.current || width === 0) return;
      const began = performance.now();
      const sight = { top: box.current.scrollTop, width, height: box.current.clientHeight };
      const picture = { ...drawn.current, picture: (at: number) => pictures(at, began) };
      if (!paintSheet(canvas.current, picture, sight)) ask();
    };
    const ask = () => {
      if (frame === 0) frame = requestAnimationFrame(now);
    };
    paint.current = ask;
    ask();
    return () => cancelAnimationFrame(frame);
  }, [pictures, width]);
  useEffect(() => paint.current());

  // Keys move through the sheet: the head in hand stays in sight.
  const rowHeight = laid.rowHeight;
  const row = place < 0 ? -1 : Math.floor(place / laid.columns);
  useEffect(() => {
    const view = box.current;
    if (!view || row < 0) return;
    const top = row * rowHeight;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + rowHeight > view.scrollTop + view.clientHeight)
      view.scrollTop = top + rowHeight - view.clientHeight;
  }, [row, rowHeight]);

  const under = (event: PointerEvent | MouseEvent): number | null => {
    const view = box.current;
    const bounds = view?.getBoundingClientRect();
    if (!view || !bounds) return null;
    const hit = placeAt(
      laid,
      event.clientX - bounds.left,
      event.clientY - bounds.top + view.scrollTop,
      order.length,
    );
    return hit === null ? null : (order[hit] ?? null);
  };
  const key = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const rows = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / laid.rowHeight));
    const next = stepped(Math.max(0, place), event.key, laid, order.length, rows);
    const at = next === null ? undefined : order[place < 0 ? 0 : next];
    if (at !== undefined) onSelect(headOf(look, at));
    else if (event.key === "Enter" && head) props.onOpen(head);
    else if (event.key === "m" && head) props.onMute(head);
    else if (event.key === "Escape" && head) onSelect(null);
    else return;
    event.preventDefault();
  };

  const about = hovered === null ? null : headInWords(look, headOf(look, hovered), gates[hovered] ?? 1);
  return (
    <>
      <div
        ref={box}
        className="thumb-box"
        style={{ "--roll": `${laid.rows * laid.rowHeight}px` } as CSSProperties}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move through the heads
        tabIndex={0}
        role="application"
        aria-label={`Patterns of ${order.length} heads. Arrow keys choose a head, Enter shows it large, m mutes it; the Table button shows the same as numbers.`}
        onKeyDown={key}
        onScroll={() => paint.current()}
      >
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the box round it has the keys */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the box round it has the keys */}
        <div
          className="thumb-roll"
          style={{ height: "var(--roll)" }}
          onPointerMove={(event) => setHovered(under(event))}
          onPointerLeave={() => setHovered(null)}
          onClick={(event) => {
            const at = under(event);
            if (at !== null) onSelect(headOf(look, at));
          }}
          onDoubleClick={(event) => {
            const at = under(event);
            if (at !== null) props.onOpen(headOf(look, at));
          }}
        >
          <canvas ref={canvas} className="thumb-canvas" />
        </div>
      </div>
      <p className="thumb-reading muted" aria-hidden="true">
        {about ?? "Click a head to see it large; double-click or Enter goes there, m mutes it."}
      </p>
      <p className="visually-hidden" aria-live="polite">
        {head && headInWords(look, head, gates[indexOf(look, head)] ?? 1)}
      </p>
    </>
  );
}
