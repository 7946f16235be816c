import type { KeyboardEvent } from "react";
import { expect, it, vi } from "vitest";
import type { Look } from "../state/look";
import { sheet } from "./order";
import { pressKey } from "./sheetKeys";

const look = { layers: 2, heads: 4 } as Look;
/** Three columns of heads, the strongest first. */
const order = [7, 6, 5, 4, 3, 2, 1, 0];
const laid = { ...sheet(400, order.length), columns: 3, rowHeight: 100 };

function press(key: string, selected: number | null, more: Partial<KeyboardEvent> = {}) {
  const heard = { onSelect: vi.fn(), onMute: vi.fn(), onOpen: vi.fn() };
  const preventDefault = vi.fn();
  const head = selected === null ? null : { layer: Math.floor(selected / 4), head: selected % 4 };
  pressKey({ key, preventDefault, ...more } as unknown as KeyboardEvent, 250, {
    look,
    order,
    sheet: laid,
    head,
    place: selected === null ? -1 : order.indexOf(selected),
    ...heard,
  });
  return { ...heard, used: preventDefault.mock.calls.length > 0 };
}

it.each([
  ["ArrowRight", 7, { layer: 1, head: 2 }],
  ["ArrowDown", 7, { layer: 1, head: 0 }],
  ["PageDown", 7, { layer: 0, head: 1 }],
  ["End", 7, { layer: 0, head: 0 }],
])("%s goes through the order as it is shown", (key, from, to) => {
  expect(press(key, from).onSelect).toHaveBeenCalledExactlyOnceWith(to);
});

it("starts at the first head where none is selected", () => {
  expect(press("ArrowRight", null).onSelect).toHaveBeenCalledExactlyOnceWith({ layer: 1, head: 3 });
});

it("opens, mutes and lets go of the selected head", () => {
  expect(press("Enter", 5).onOpen).toHaveBeenCalledExactlyOnceWith({ layer: 1, head: 1 });
  expect(press("m", 5).onMute).toHaveBeenCalledExactlyOnceWith({ layer: 1, head: 1 });
  expect(press("Escape", 5).onSelect).toHaveBeenCalledExactlyOnceWith(null);
});

it("leaves to the browser what it has no use for", () => {
  expect(press("ArrowRight", 7).used).toBe(true);
  expect(press("Escape", null).used).toBe(false);
  expect(press("x", 5).used).toBe(false);
  expect(press("m", 5, { metaKey: true }).used).toBe(false);
});
