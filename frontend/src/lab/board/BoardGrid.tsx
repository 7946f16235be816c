import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import type { Head } from "../../url/view";
import {
  box,
  type GateState,
  gateWords,
  headAt,
  indexOf,
  layer,
  moved,
  type Sizes,
  solo,
  toggled,
} from "../state/gates";
import { GateCells, HeadCells } from "./HeadCells";

export interface BoardGridProps {
  sizes: Sizes;
  kvHeads: number;
  gates: GateState;
  /** How strong each head is on this prompt, in [0, 1]. */
  strengths: Float32Array | null;
  /** The heads in hand: what is set moves all of them. */
  marked: ReadonlySet<number>;
  selecting: boolean;
  /** Nothing can be set; a click selects. */
  readOnly: boolean;
  onMarked: (marked: readonly number[]) => void;
  onGates: (next: GateState, step: boolean) => void;
  onSelect: (head: Head) => void;
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** This far, in pixels, a press is still a click. */
const STILL = 4;
/** Pixels from shut to open. */
const THROW = 100;

interface Press {
  kind: "set" | "box";
  at: number;
  x: number;
  y: number;
  moved: boolean;
  /** What is set, and from where. */
  held: readonly number[];
  from: GateState;
}

function cellUnder(target: Element | null): number | null {
  const at = target?.closest<HTMLElement>("[data-at]")?.dataset.at;
  return at === undefined ? null : Number(at);
}

/** All heads as cells: click mutes, drag up or down sets, a box takes several, and the same by keyboard. */
export function BoardGrid(props: BoardGridProps) {
  const { sizes, gates, marked, selecting, readOnly, onMarked, onGates, onSelect } = props;
  const grid = useRef<HTMLDivElement>(null);
  const press = useRef<Press | null>(null);
  const anchor = useRef<number | null>(null);
  const [cursor, setCursor] = useState(0);
  const [focusCursor, setFocusCursor] = useState(0);

  // Only where a key moved it: a click leaves the focus to the browser.
  useEffect(() => {
    if (focusCursor > 0) grid.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }, [focusCursor]);

  const held = (at: number): readonly number[] => (marked.has(at) ? [...marked] : [at]);

  const down = (event: PointerEvent) => {
    const at = cellUnder(event.target as Element);
    if (at === null || event.button !== 0) return;
    if (readOnly) {
      onSelect(headAt(sizes, at));
      return;
    }
    const kind = event.shiftKey || selecting ? "box" : "set";
    press.current = {
      kind,
      at,
      x: event.clientX,
      y: event.clientY,
      moved: false,
      held: held(at),
      from: gates,
    };
    if (event.pointerType !== "touch" || kind === "box") grid.current?.setPointerCapture(event.pointerId);
    setCursor(at);
  };

  const move = (event: PointerEvent) => {
    const now = press.current;
    if (!now) return;
    const up = now.y - event.clientY;
    if (!now.moved && Math.max(Math.abs(up), Math.abs(event.clientX - now.x)) < STILL) return;
    // On a touch screen the same movement scrolls the page; there the faders set values.
    if (now.kind === "set" && event.pointerType === "touch") return;
    now.moved = true;
    if (now.kind === "set") onGates(moved(now.from, now.held, up / THROW), false);
    else {
      const over = cellUnder(document.elementFromPoint(event.clientX, event.clientY));
      if (over !== null) onMarked(box(sizes, headAt(sizes, now.at), headAt(sizes, over)));
    }
  };

  const end = (event: PointerEvent) => {
    const now = press.current;
    press.current = null;
    if (!now) return;
    if (now.kind === "set" && now.moved) {
      onGates(moved(now.from, now.held, (now.y - event.clientY) / THROW), true);
    } else if (now.kind === "set") {
      onGates(toggled(gates, now.held), true);
      onSelect(headAt(sizes, now.at));
    } else if (!now.moved) {
      onMarked(marked.has(now.at) ? [...marked].filter((at) => at !== now.at) : [...marked, now.at]);
    }
  };

  const cancel = () => {
    const now = press.current;
    press.current = null;
    if (now?.kind === "set" && now.moved) onGates(now.from, true);
  };

  const walk = (key: string, extend: boolean): boolean => {
    const step = ARROWS[key];
    if (!step) return false;
    const from = headAt(sizes, cursor);
    const to = {
      layer: Math.min(sizes.layers - 1, Math.max(0, from.layer + step[0])),
      head: Math.min(sizes.heads - 1, Math.max(0, from.head + step[1])),
    };
    if (extend) {
      anchor.current ??= cursor;
      onMarked(box(sizes, headAt(sizes, anchor.current), to));
    } else anchor.current = null;
    setCursor(indexOf(sizes, to));
    setFocusCursor((n) => n + 1);
    return true;
  };

  const act = (key: string): boolean => {
    if (readOnly && key !== "Enter") return false;
    const hand = held(cursor);
    switch (key) {
      case "m":
      case " ":
        onGates(toggled(gates, hand), true);
        return true;
      case "+":
      case "=":
        onGates(moved(gates, hand, 0.1), true);
        return true;
      case "-":
      case "−":
        onGates(moved(gates, hand, -0.1), true);
        return true;
      case "s":
        onGates(solo(gates, hand), true);
        return true;
      case "l":
        onMarked(layer(sizes, headAt(sizes, cursor).layer));
        return true;
      case "Enter":
        onSelect(headAt(sizes, cursor));
        return true;
      case "Escape":
        anchor.current = null;
        if (marked.size === 0) return false;
        onMarked([]);
        return true;
    }
    return false;
  };

  const key = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (walk(event.key, event.shiftKey) || act(event.key)) event.preventDefault();
  };

  return (
    <HeadCells sizes={sizes} kvHeads={props.kvHeads}>
      {/* biome-ignore lint/a11y/useSemanticElements: a table can't be laid out by columns */}
      <div
        ref={grid}
        role="grid"
        className={selecting ? "cells-grid gates selecting" : "cells-grid gates"}
        aria-label={`Gates of ${sizes.layers} layers of ${sizes.heads} heads. Arrow keys move, m mutes, plus and minus set, s lets one play alone, l takes a layer, Shift with arrows takes several.`}
        aria-multiselectable="true"
        aria-rowcount={sizes.heads}
        aria-colcount={sizes.layers}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={end}
        onPointerCancel={cancel}
        onKeyDown={key}
      >
        <GateCells
          sizes={sizes}
          gates={gates}
          strengths={props.strengths}
          marked={marked}
          cursor={cursor}
          words={gateWords}
        />
      </div>
    </HeadCells>
  );
}
