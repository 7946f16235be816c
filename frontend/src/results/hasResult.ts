import type { Run } from "../api/types";

/** Whether there is something to show: the whole result, or what was whole of a run that was stopped. */
export function hasResult(run: Pick<Run, "status" | "partial">): boolean {
  return run.status === "done" || run.partial;
}
