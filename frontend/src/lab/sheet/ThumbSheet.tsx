import { type CSSProperties, type MouseEvent, useMemo, useRef, useState } from "react";
import { useWidth } from "../../parts/useWidth";
import { type Head, headName } from "../../url/heads";
import { headAt, indexOf } from "../state/gates";
import type { Look } from "../state/look";
import { headInWords } from "../words";
import { placeAt, type Sheet, sheet } from "./order";
import { pressKey } from "./sheetKeys";
import { useRowInSight } from "./useRowInSight";
import { useSheetPaint } from "./useSheetPaint";
import { useThumbnails } from "./useThumbnails";

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

/** The head that a point of the scrolling box hits, as an index. */
function headUnder(
  event: MouseEvent,
  view: HTMLElement | null,
  laid: Sheet,
  order: readonly number[],
): number | null {
  if (!view) return null;
  const { left, top } = view.getBoundingClientRect();
  const hit = placeAt(laid, event.clientX - left, event.clientY - top + view.scrollTop, order.length);
  return hit === null ? null : (order[hit] ?? null);
}

/** All heads' patterns, small: one canvas that paints the rows in sight. */
export function ThumbSheet(props: ThumbSheetProps) {
  const { look, order, scores, gates, head, onSelect, onOpen } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const [hovered, setHovered] = useState<number | null>(null);
  const laid = useMemo(() => sheet(width, order.length), [width, order.length]);
  const selected = head ? indexOf(look, head) : null;
  const place = selected === null ? -1 : order.indexOf(selected);
  const paint = useSheetPaint(
    { box, canvas, width },
    {
      sheet: laid,
      order,
      name: (at) => headName(headAt(look, at)),
      score: (at) => (scores ? (scores[at] ?? Number.NaN) : null),
      muted: (at) => (gates[at] ?? 1) < 0.5,
      selected,
      hovered,
    },
    useThumbnails(look, props.sink),
  );
  useRowInSight(box, place < 0 ? -1 : Math.floor(place / laid.columns), laid.rowHeight);
  const under = (event: MouseEvent) => headUnder(event, box.current, laid, order);
  const onHit = (act: (head: Head) => void) => (event: MouseEvent) => {
    const at = under(event);
    if (at !== null) act(headAt(look, at));
  };
  return (
    <>
      <div
        ref={box}
        className="thumb-box"
        style={{ "--roll": `${laid.rows * laid.rowHeight}px` } as CSSProperties}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move through the heads
        tabIndex={0}
        role="application"
        aria-label={`Patterns of ${order.length} heads. Arrow keys choose a head, Enter enlarges it, m mutes it; the Table button shows the same as numbers.`}
        onKeyDown={(event) =>
          pressKey(event, box.current?.clientHeight ?? 0, { ...props, sheet: laid, place })
        }
        onScroll={paint}
      >
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the box round it has the keys */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the box round it has the keys */}
        <div
          className="thumb-roll"
          style={{ height: "var(--roll)" }}
          onPointerMove={(event) => setHovered(under(event))}
          onPointerLeave={() => setHovered(null)}
          onClick={onHit(onSelect)}
          onDoubleClick={onHit(onOpen)}
        >
          <canvas ref={canvas} className="thumb-canvas" />
        </div>
      </div>
      <SheetReadout look={look} gates={gates} head={head} hovered={hovered} />
    </>
  );
}

type SheetReadoutProps = Pick<ThumbSheetProps, "look" | "gates" | "head"> & { hovered: number | null };

/** The head under the pointer in words; a screen reader hears the selected one. */
function SheetReadout({ look, gates, head, hovered }: SheetReadoutProps) {
  const words = (one: Head) => headInWords(look, one, gates[indexOf(look, one)] ?? 1);
  return (
    <>
      <p className="thumb-reading muted" aria-hidden="true">
        {hovered === null
          ? "Click a head to see it enlarged; double-click or Enter goes there, m mutes it."
          : words(headAt(look, hovered))}
      </p>
      <p className="visually-hidden" aria-live="polite">
        {head && words(head)}
      </p>
    </>
  );
}
