// The gates by keyboard: arrows move, letters and signs act on the cell with the focus.
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from "react";
import type { Head } from "../../url/view";
import { box, headAt, indexOf, layer, moved, type Sizes, solo, toggled } from "../state/gates";
import { type BoardGridProps, targets } from "./gridProps";

type Action = (props: BoardGridProps, at: number) => void;

/** Layers and heads that an arrow goes. */
const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const mute: Action = (props, at) => props.onGates(toggled(props.gates, targets(props, at)), true);
const open: Action = (props, at) => props.onGates(moved(props.gates, targets(props, at), 0.1), true);
const shut: Action = (props, at) => props.onGates(moved(props.gates, targets(props, at), -0.1), true);

const ACTIONS: Record<string, Action> = {
  m: mute,
  " ": mute,
  "+": open,
  "=": open,
  "-": shut,
  "−": shut,
  s: (props, at) => props.onGates(solo(props.gates, targets(props, at)), true),
  l: ({ sizes, onMarked }, at) => onMarked(layer(sizes, headAt(sizes, at).layer)),
  Enter: ({ sizes, onSelect }, at) => onSelect(headAt(sizes, at)),
};

function neighbour(sizes: Sizes, at: number, [layers, heads]: [number, number]): Head {
  const from = headAt(sizes, at);
  return {
    layer: Math.min(sizes.layers - 1, Math.max(0, from.layer + layers)),
    head: Math.min(sizes.heads - 1, Math.max(0, from.head + heads)),
  };
}

/** The cell that has the focus, and the grid's key handler. */
export function useGridKeys(grid: RefObject<HTMLElement | null>, props: BoardGridProps) {
  const { sizes, marked, onMarked } = props;
  const [cursor, setCursor] = useState(0);
  const [steps, setSteps] = useState(0);
  /** Where a selection with Shift began. */
  const anchor = useRef<number | null>(null);

  // Only where a key moved it: a click leaves the focus to the browser.
  useEffect(() => {
    if (steps > 0) grid.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }, [grid, steps]);

  const walk = (arrow: [number, number], extend: boolean) => {
    const to = neighbour(sizes, cursor, arrow);
    if (extend) {
      anchor.current ??= cursor;
      onMarked(box(sizes, headAt(sizes, anchor.current), to));
    } else anchor.current = null;
    setCursor(indexOf(sizes, to));
    setSteps((n) => n + 1);
  };

  /** Whether there was something to let go of. */
  const release = (): boolean => {
    anchor.current = null;
    if (marked.size === 0) return false;
    onMarked([]);
    return true;
  };

  const act = (key: string): boolean => {
    if (props.readOnly && key !== "Enter") return false;
    if (key === "Escape") return release();
    ACTIONS[key]?.(props, cursor);
    return key in ACTIONS;
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow) walk(arrow, event.shiftKey);
    else if (!act(event.key)) return;
    event.preventDefault();
  };
  return { cursor, setCursor, onKeyDown };
}
