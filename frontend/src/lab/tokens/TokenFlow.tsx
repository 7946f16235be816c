import {
  type ClipboardEvent,
  type KeyboardEvent,
  memo,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Token } from "../../api/types";
import { type Arc, arcs, type Box, MOST_ARCS, shownArcs } from "../../tokens/arcs";
import { runs } from "../../tokens/glyphs";
import { plainText } from "../../tokens/plain";
import { GlyphView } from "../../tokens/TokenText";
import { columnsOut } from "../pattern/shade";
import type { Look } from "../state/look";
import { usePointed } from "../state/pointed";
import { LabToken } from "./LabToken";

export interface TokenFlowProps {
  look: Look;
  before: ArrayLike<number | null>;
  after: ArrayLike<number | null> | null;
  locked: readonly number[];
  onLock: (token: number) => void;
  onClear: () => void;
  /** How much each token is looked at, and looks, in [0, 1]; null where no head is selected. */
  attention: { looks: Float32Array; seen: Float32Array } | null;
  /** The first and special tokens count in the scale of that. */
  sink: boolean;
}

/** Pixels between lines: room for the arcs. */
const ROOM = 26;

/** The prompt, token by token, with arcs to earlier copies. Arrow keys walk, Enter holds a token. */
export function TokenFlow({ look, before, after, locked, onLock, onClear, attention, sink }: TokenFlowProps) {
  const { token: pointed, point } = usePointed();
  const flow = useRef<HTMLDivElement>(null);
  const n = look.tokens.length;
  const drawn = useArcs(flow, look);
  useMarks(flow, look, pointed, locked, attention, sink);

  const under = (target: EventTarget): number | null => {
    const element = (target as Element).closest<HTMLElement>("[data-token]");
    return element ? Number(element.dataset.token) : null;
  };
  const key = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -n, End: n };
    const step = steps[event.key];
    if (step !== undefined) point(Math.min(n - 1, Math.max(0, (pointed ?? (step > 0 ? -1 : n)) + step)));
    else if ((event.key === "Enter" || event.key === " ") && pointed !== null) onLock(pointed);
    else if (event.key === "Escape") {
      point(null);
      onClear();
    } else return;
    event.preventDefault();
  };
  return (
    <div className="token-scene">
      <section
        ref={flow}
        className={`token-flow tokens${after ? " gated" : ""}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys walk from token to token
        tabIndex={0}
        aria-label={`The prompt, ${n} tokens. Arrow keys walk through them, Enter pins one.`}
        onKeyDown={key}
        onPointerOver={(event) => event.pointerType !== "touch" && point(under(event.target))}
        onPointerLeave={(event) => event.pointerType !== "touch" && point(null)}
        onClick={(event) => {
          const token = under(event.target);
          // A drag that selected text is no click on a token.
          if (token === null || !(window.getSelection()?.isCollapsed ?? true)) return;
          point(token);
          onLock(token);
        }}
        onCopy={(event) => copyPlain(event, flow.current, look)}
      >
        <p className="visually-hidden">{plainText(look.tokens)}</p>
        <ArcDrawing drawn={drawn} token={pointed} />
        <Spans look={look} before={before} after={after} />
      </section>
    </div>
  );
}

const Spans = memo(function Spans({
  look,
  before,
  after,
}: Pick<TokenFlowProps, "look" | "before" | "after">) {
  const shown = useMemo(() => runs(look.tokens), [look]);
  const box = (token: Token, at: number, part = false) => (
    <LabToken
      key={at}
      token={token}
      at={at}
      before={before[at] ?? null}
      after={after?.[at] ?? null}
      part={part}
    />
  );
  return (
    <div aria-hidden="true">
      {shown.map(({ first, tokens, glyph }) =>
        glyph === null ? (
          tokens.map((token) => box(token, first))
        ) : (
          <GlyphView key={first} glyph={glyph} parts={tokens.length}>
            {tokens.map((token, i) => box(token, first + i, true))}
          </GlyphView>
        ),
      )}
    </div>
  );
});

/** What is copied is the text itself, not its visible spaces; of a glyph all of it. */
function copyPlain(event: ClipboardEvent, flow: HTMLElement | null, look: Look): void {
  const selection = window.getSelection();
  if (!flow || !selection || selection.isCollapsed) return;
  const range = selection.getRangeAt(0);
  const chosen = [...flow.querySelectorAll<HTMLElement>("[data-token]")]
    .filter((span) => range.intersectsNode(span.closest(".glyph") ?? span))
    .map((span) => look.tokens[Number(span.dataset.token)])
    .filter((token) => token !== undefined);
  if (chosen.length === 0) return;
  event.clipboardData.setData("text/plain", plainText(chosen));
  event.preventDefault();
}

interface Drawn {
  arcs: Arc[];
  width: number;
  height: number;
}

/** Arcs for the tokens as they lie; they follow when lines wrap again. */
function useArcs(flow: RefObject<HTMLElement | null>, look: Look): Drawn {
  const [drawn, setDrawn] = useState<Drawn>({ arcs: [], width: 0, height: 0 });
  useEffect(() => {
    const element = flow.current;
    if (!element) return;
    const measure = () => {
      const boxes: (Box | undefined)[] = [];
      for (const span of element.querySelectorAll<HTMLElement>("[data-token]")) {
        boxes[Number(span.dataset.token)] = {
          left: span.offsetLeft,
          top: span.offsetTop,
          width: span.offsetWidth,
          height: span.offsetHeight,
        };
      }
      setDrawn({
        arcs: arcs(boxes, look.copies, ROOM),
        width: element.clientWidth,
        height: element.scrollHeight,
      });
    };
    // The observer calls once at the start too, when the page is laid out: nothing is laid out for it alone.
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    void document.fonts?.ready.then(measure);
    return () => observer.disconnect();
  }, [flow, look]);
  return drawn;
}

function ArcDrawing({ drawn, token }: { drawn: Drawn; token: number | null }) {
  const shown = shownArcs(drawn.arcs, token);
  return (
    <svg className="token-arcs" width={drawn.width} height={drawn.height} aria-hidden="true">
      {shown.map(({ from, to, path }) => (
        <path
          key={to}
          d={path}
          className={
            from === token || to === token
              ? "arc on"
              : drawn.arcs.length > MOST_ARCS / 2
                ? "arc faint"
                : "arc"
          }
        />
      ))}
    </svg>
  );
}

/** Marks that follow the pointer are put on the spans themselves: two thousand tokens aren't rendered again. */
function useMarks(
  flow: RefObject<HTMLElement | null>,
  look: Look,
  pointed: number | null,
  locked: readonly number[],
  attention: TokenFlowProps["attention"],
  sink: boolean,
): void {
  useEffect(() => {
    const spans = flow.current?.querySelectorAll<HTMLElement>("[data-token]");
    if (!spans) return;
    const copies = new Set(pointed === null ? [] : look.copies[pointed]);
    const next = new Set([...copies].map((copy) => copy + 1));
    const looks = attention?.looks ?? new Float32Array();
    const seen = attention?.seen ?? new Float32Array();
    const out = columnsOut(look.tokens, 1, sink);
    const most = Math.max(0.1, ...looks.filter((_, at) => !out.has(at)), ...seen);
    for (const span of spans) {
      const at = Number(span.dataset.token);
      const toggle = (name: string, on: boolean) => span.classList.toggle(name, on);
      toggle("pointed", at === pointed);
      toggle("locked", locked.includes(at));
      toggle("copy", copies.has(at));
      toggle("after-copy", next.has(at) && at !== pointed);
      toggle("left-out", out.has(at));
      span.style.setProperty("--looked", `${Math.min(100, Math.round((100 * (looks[at] ?? 0)) / most))}%`);
      span.style.setProperty("--looks", `${Math.round((100 * (seen[at] ?? 0)) / most)}%`);
    }
  });
}
