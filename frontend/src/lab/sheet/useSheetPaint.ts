import { type RefObject, useCallback, useEffect, useRef } from "react";
import { paintSheet, type SheetPicture } from "./paintSheet";
import type { Thumbnails } from "./useThumbnails";

/** The sheet's canvas, and the box that scrolls over it. */
interface Surface {
  box: RefObject<HTMLElement | null>;
  canvas: RefObject<HTMLCanvasElement | null>;
  width: number;
}

/**
 * Paint the rows in sight. Every render and every call of what this returns ask for a frame; what isn't made in one is
 * made in the next.
 */
export function useSheetPaint(
  { box, canvas, width }: Surface,
  drawn: Omit<SheetPicture, "picture">,
  thumbnails: Thumbnails,
): () => void {
  const latest = useRef(drawn);
  latest.current = drawn;
  const ask = useRef<() => void>(() => {});
  useEffect(() => {
    let frame = 0;
    const paint = () => {
      frame = 0;
      if (!canvas.current || !box.current || width === 0) return;
      const began = performance.now();
      const sight = { top: box.current.scrollTop, width, height: box.current.clientHeight };
      const picture = { ...latest.current, picture: (at: number) => thumbnails(at, began) };
      if (!paintSheet(canvas.current, picture, sight)) ask.current();
    };
    ask.current = () => {
      if (frame === 0) frame = requestAnimationFrame(paint);
    };
    return () => cancelAnimationFrame(frame);
  }, [box, canvas, thumbnails, width]);
  useEffect(() => ask.current());
  return useCallback(() => ask.current(), []);
}
