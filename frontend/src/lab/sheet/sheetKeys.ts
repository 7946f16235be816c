import type { KeyboardEvent } from "react";
import type { Head } from "../../url/heads";
import { headAt } from "../state/gates";
import type { Look } from "../state/look";
import { type Sheet, stepped } from "./order";

export interface SheetKeys {
  look: Look;
  order: readonly number[];
  sheet: Sheet;
  head: Head | null;
  /** Where the selected head stands in the order; negative where it isn't shown. */
  place: number;
  onSelect: (head: Head | null) => void;
  onMute: (head: Head) => void;
  onOpen: (head: Head) => void;
}

/** Keys of the sheet, whose box shows this many pixels of it. */
export function pressKey(event: KeyboardEvent, visible: number, keys: SheetKeys): void {
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  const { look, order, sheet, head, place } = keys;
  const page = Math.max(1, Math.floor(visible / sheet.rowHeight));
  const next = stepped(Math.max(0, place), event.key, sheet, order.length, page);
  const at = next === null ? undefined : order[place < 0 ? 0 : next];
  if (at !== undefined) keys.onSelect(headAt(look, at));
  else if (event.key === "Enter" && head) keys.onOpen(head);
  else if (event.key === "m" && head) keys.onMute(head);
  else if (event.key === "Escape" && head) keys.onSelect(null);
  else return;
  event.preventDefault();
}
