import { useEffect, useMemo, useRef, useState } from "react";

const SAME_MOVE_MS = 1500;

/** Follow the threshold's slider at once, and let the address catch up when it rests. */
export function useFollowing<T extends { threshold: number }>(
  view: T,
  onView: (view: T, options?: { replace?: boolean }) => void,
): [T, (threshold: number) => void] {
  const [threshold, setThreshold] = useState(view.threshold);
  const latest = useRef({ view, onView });
  const moved = useRef(0);
  latest.current = { view, onView };
  useEffect(() => setThreshold(view.threshold), [view.threshold]);
  useEffect(() => {
    if (threshold === latest.current.view.threshold) return;
    const timer = setTimeout(() => {
      // One move of the slider is one step back, however often it rested on its way.
      const replace = Date.now() - moved.current < SAME_MOVE_MS;
      moved.current = Date.now();
      latest.current.onView({ ...latest.current.view, threshold }, { replace });
    }, 250);
    return () => clearTimeout(timer);
  }, [threshold]);
  return [useMemo(() => ({ ...view, threshold }), [view, threshold]), setThreshold];
}
