import { type RefObject, useEffect } from "react";

/** Keys move through the sheet: the selected head's row stays in sight. None where `row` is negative. */
export function useRowInSight(box: RefObject<HTMLElement | null>, row: number, rowHeight: number): void {
  useEffect(() => {
    const view = box.current;
    if (!view || row < 0) return;
    const top = row * rowHeight;
    const bottom = top + rowHeight;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (bottom > view.scrollTop + view.clientHeight) view.scrollTop = bottom - view.clientHeight;
  }, [box, row, rowHeight]);
}
