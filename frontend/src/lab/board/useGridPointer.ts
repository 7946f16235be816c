// The gates by pointer: a click mutes, a drag up or down sets, a drag with Shift takes a box of heads.
import { type PointerEvent, type RefObject, useRef } from "react";
import { box, type GateState, headAt, moved, toggled } from "../state/gates";
import { type BoardGridProps, targets } from "./gridProps";

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
  heads: readonly number[];
  from: GateState;
}

function cellUnder(target: Element | null): number | null {
  const at = target?.closest<HTMLElement>("[data-at]")?.dataset.at;
  return at === undefined ? null : Number(at);
}

function begun(event: PointerEvent, at: number, props: BoardGridProps): Press {
  return {
    kind: event.shiftKey || props.selecting ? "box" : "set",
    at,
    x: event.clientX,
    y: event.clientY,
    moved: false,
    heads: targets(props, at),
    from: props.gates,
  };
}

function isDrag(press: Press, event: PointerEvent): boolean {
  // On a touch screen the same movement scrolls the page; there the faders set values.
  if (press.kind === "set" && event.pointerType === "touch") return false;
  const far = Math.max(Math.abs(event.clientX - press.x), Math.abs(event.clientY - press.y));
  return press.moved || far >= STILL;
}

/** The gates after a drag that has come this far: up opens, down shuts. */
function dragged(press: Press, event: PointerEvent): GateState {
  return moved(press.from, press.heads, (press.y - event.clientY) / THROW);
}

function drag(press: Press, event: PointerEvent, { sizes, onGates, onMarked }: BoardGridProps): void {
  if (press.kind === "set") {
    onGates(dragged(press, event), false);
    return;
  }
  const over = cellUnder(document.elementFromPoint(event.clientX, event.clientY));
  if (over !== null) onMarked(box(sizes, headAt(sizes, press.at), headAt(sizes, over)));
}

function drop(press: Press, event: PointerEvent, props: BoardGridProps): void {
  const { sizes, gates, marked, onGates, onMarked, onSelect } = props;
  if (press.kind === "set" && press.moved) {
    onGates(dragged(press, event), true);
  } else if (press.kind === "set") {
    onGates(toggled(gates, press.heads), true);
    onSelect(headAt(sizes, press.at));
  } else if (!press.moved) {
    onMarked(marked.has(press.at) ? [...marked].filter((at) => at !== press.at) : [...marked, press.at]);
  }
}

/** The grid's pointer handlers; `onCursor` hears of the cell that is pressed. */
export function useGridPointer(
  grid: RefObject<HTMLElement | null>,
  props: BoardGridProps,
  onCursor: (at: number) => void,
) {
  const press = useRef<Press | null>(null);
  const released = (): Press | null => {
    const was = press.current;
    press.current = null;
    return was;
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      const at = cellUnder(event.target as Element);
      if (at === null || event.button !== 0) return;
      if (props.readOnly) {
        props.onSelect(headAt(props.sizes, at));
        return;
      }
      press.current = begun(event, at, props);
      const captures = event.pointerType !== "touch" || press.current.kind === "box";
      if (captures) grid.current?.setPointerCapture(event.pointerId);
      onCursor(at);
    },
    onPointerMove: (event: PointerEvent) => {
      if (!press.current || !isDrag(press.current, event)) return;
      press.current.moved = true;
      drag(press.current, event, props);
    },
    onPointerUp: (event: PointerEvent) => {
      const was = released();
      if (was) drop(was, event, props);
    },
    onPointerCancel: () => {
      const was = released();
      if (was?.kind === "set" && was.moved) props.onGates(was.from, true);
    },
  };
}
