// Which run's map stands for a model and a task.
import { queries } from "../api/queries";
import type { Run } from "../api/types";
import { isSteering } from "./headline";

/** The analysis whose runs are the maps of the atlas. */
export const MAPPED = "chg";

/** All finished maps. */
export const mappedRuns = () => queries.runs({ status: "done", analysis: MAPPED, limit: 500 });

export interface Pair {
  model: string;
  task: string;
}

/**
 * The finished run that stands for a pair: the paper's ablation first, then where the model can do the task, then the shipped one, then the one with most
 * seeds, then the newest.
 */
export function mapOf({ model, task }: Pair, runs: readonly Run[]): Run | undefined {
  return best(runs.filter((run) => run.model === model && run.task === task));
}

function best(runs: readonly Run[]): Run | undefined {
  const rank = (run: Run): number[] => [
    (run.params.ablation ?? "zero") === "zero" ? 1 : 0,
    isSteering(run.headline) ? 0 : 1,
    run.origin === "gallery" ? 1 : 0,
    run.seeds.length,
    Date.parse(run.finished_at ?? run.created_at) || 0,
  ];
  return [...runs].sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    return y.map((value, i) => value - (x[i] ?? 0)).find((difference) => difference !== 0) ?? 0;
  })[0];
}
