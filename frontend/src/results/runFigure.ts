import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { Loaded } from "../api/query";
import type { Figure, Run } from "../api/types";
import { DEFAULT_VIEW, type Head, headName } from "../url/view";

export interface RunFigure extends Loaded<Figure> {
  /** What it was asked for with. */
  asked: { threshold: number; head?: string | undefined };
  /** The run looked at chosen heads, and not at this one. */
  leftOut: boolean;
}

/**
 * A figure of a run. It says in `layout.meta` what it follows: `head` where it is about one, `looked_at` where only
 * those heads can be asked for, `threshold` where that decides what it shows. Until the one asked for is there, the
 * last one stays.
 */
export function useRunFigure(
  run: Run,
  name: string,
  share: string | null,
  head: Head | null = null,
  threshold: number = DEFAULT_VIEW.threshold,
): RunFigure {
  const whole = useQuery(queries.figure(run, name, { share }));
  const meta = whole.data?.layout.meta;
  const asked = {
    threshold: meta?.threshold === undefined ? DEFAULT_VIEW.threshold : threshold,
    head: meta?.head === undefined || head === null ? undefined : headName(head),
  };
  const known = meta?.looked_at;
  const leftOut =
    head !== null && known !== undefined && !known.some(([l, h]) => l === head.layer && h === head.head);
  const another = asked.head !== undefined || asked.threshold !== DEFAULT_VIEW.threshold;
  const own = useQuery({
    ...queries.figure(run, name, { share, ...asked }),
    enabled: another && !leftOut,
    placeholderData: (last) => last ?? whole.data,
  });
  const { data, error, isLoading, refetch } = another && !leftOut ? own : whole;
  return { data, error, isLoading, refetch, asked, leftOut };
}
