import { useEffect, useRef } from "react";
import { api } from "../api/client";
import { type Resource, useResource } from "../api/resource";
import type { Figure, Run } from "../api/types";
import { DEFAULT_VIEW, type Head, headName } from "../url/view";

export interface RunFigure extends Resource<Figure> {
  /** What it was asked for with. */
  asked: { threshold: number; head?: string | undefined };
  /** The run looked at chosen heads, and not at this one. */
  leftOut: boolean;
}

/**
 * A figure of a run; however many cards show it, it is asked for once. It says in `layout.meta` what it follows:
 * `head` where it is about one, `looked_at` where only those heads can be asked for, `threshold` where that decides what it
 * shows. Until the one asked for is there, the last one stays.
 */
export function useRunFigure(
  run: Pick<Run, "id">,
  name: string,
  share: string | null,
  head: Head | null = null,
  threshold: number = DEFAULT_VIEW.threshold,
): RunFigure {
  const key = `figure ${run.id} ${name}`;
  const whole = useResource(key, (signal) => api.figure(run.id, name, { share }, signal), { fixed: true });
  const meta = whole.data?.layout.meta;
  const asked = {
    threshold: meta?.threshold === undefined ? DEFAULT_VIEW.threshold : threshold,
    head: meta?.head === undefined || head === null ? undefined : headName(head),
  };
  const known = meta?.looked_at;
  const leftOut =
    head !== null && known !== undefined && !known.some(([l, h]) => l === head.layer && h === head.head);
  const another = asked.head !== undefined || asked.threshold !== DEFAULT_VIEW.threshold;
  const own = useResource(
    another && !leftOut ? `${key} ${asked.threshold} ${asked.head ?? ""}` : null,
    (signal) => api.figure(run.id, name, { share, ...asked }, signal),
    { fixed: true },
  );
  const last = useRef<Figure>(undefined);
  useEffect(() => {
    if (own.data) last.current = own.data;
  }, [own.data]);
  if (!another || leftOut) return { ...whole, asked, leftOut };
  const data = own.data ?? (own.error ? undefined : (last.current ?? whole.data));
  return { ...own, data, loading: false, asked, leftOut };
}
