import { api } from "../api/client";
import { type Resource, useResource } from "../api/resource";
import type { Figure, Run } from "../api/types";
import { type Head, headName } from "../url/view";

export interface RunFigure extends Resource<Figure> {
  /** The head that the figure shows, where it is about one: "1.5". */
  head: string | undefined;
}

/**
 * A figure that follows nothing but the run, and the head in hand where it is about one: such a figure says so
 * in `layout.meta.head`. However many cards show it, it is asked for once.
 */
export function useRunFigure(
  run: Pick<Run, "id">,
  name: string,
  share: string | null,
  head: Head | null = null,
): RunFigure {
  const key = `figure ${run.id} ${name}`;
  const whole = useResource(key, (signal) => api.figure(run.id, name, { share }, signal), { fixed: true });
  const about = whole.data?.layout.meta?.head !== undefined;
  const wanted = about && head ? headName(head) : undefined;
  const own = useResource(
    wanted ? `${key} ${wanted}` : null,
    (signal) => api.figure(run.id, name, { share, head: wanted }, signal),
    { fixed: true },
  );
  if (!wanted) return { ...whole, head: undefined };
  return { ...own, data: own.data ?? (own.error ? undefined : whole.data), loading: false, head: wanted };
}
