import { useMemo } from "react";
import { useTheme } from "../../parts/theme";
import { ramp } from "../pattern/shade";
import type { Look } from "../state/look";
import { type Thumb, ThumbnailCache } from "./thumbnailCache";

/** Milliseconds of a frame for making pictures: scrolling stays smooth. A few are made whatever else a frame takes. */
const SLICE = 20;
const LEAST_MADE = 3;

/** A head's small picture for the frame that began then; null where the frame has no time left to make it. */
export type Thumbnails = (at: number, began: number) => Thumb | null;

/** Small pictures of heads, made as they come into sight and kept. */
export function useThumbnails(look: Look, sink: boolean): Thumbnails {
  const { theme } = useTheme();
  return useMemo(() => {
    const cache = new ThumbnailCache(look, sink, ramp(theme));
    let inFrame = 0;
    let frame = 0;
    return (at, began) => {
      if (cache.has(at)) return cache.of(at);
      if (began !== frame) [frame, inFrame] = [began, 0];
      if (inFrame >= LEAST_MADE && performance.now() > began + SLICE) return null;
      inFrame += 1;
      return cache.of(at);
    };
  }, [look, sink, theme]);
}
