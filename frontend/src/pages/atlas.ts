// Which map the atlas opens.
import type { Model, Run, Task } from "../api/types";

export interface Pair {
  model: string;
  task: string;
}

/** The finished run that stands for a pair: the shipped one first, then the one with most seeds, then the newest. */
export function mapOf({ model, task }: Pair, runs: readonly Run[]): Run | undefined {
  return best(runs.filter((run) => run.model === model && run.task === task));
}

function best(runs: readonly Run[]): Run | undefined {
  const rank = (run: Run): [number, number, number] => [
    run.origin === "gallery" ? 1 : 0,
    run.seeds.length,
    Date.parse(run.finished_at ?? run.created_at) || 0,
  ];
  return [...runs].sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    return y[0] - x[0] || y[1] - x[1] || y[2] - x[2];
  })[0];
}

function headCount(run: Run): number {
  return Number(run.model_info?.n_layers ?? 0) * Number(run.model_info?.n_heads ?? 0);
}

/** How much shutting harmful heads lifts held-out accuracy: the larger, the more a map tells. */
function lift({ headline }: Run): number {
  const [before, after] = [headline?.accuracy_ungated, headline?.accuracy_plus];
  return typeof before === "number" && typeof after === "number" ? after - before : Number.NEGATIVE_INFINITY;
}

/**
 * What the address names, completed by the runs there are: where it says nothing, the largest model that has a
 * shipped map, on the task whose map tells most. A newcomer's first sight is a real language model.
 */
export function chosenPair(
  wanted: { model: string | null; task: string | null },
  runs: readonly Run[],
): Pair | null {
  const { model, task } = wanted;
  if (model !== null && task !== null) return { model, task };
  const fitting = runs.filter(
    (run) =>
      run.task !== null && (model === null || run.model === model) && (task === null || run.task === task),
  );
  const shipped = fitting.filter((run) => run.origin === "gallery");
  const [first] = [...(shipped.length > 0 ? shipped : fitting)].sort(
    (a, b) => headCount(b) - headCount(a) || lift(b) - lift(a) || 0,
  );
  return first?.task ? { model: first.model, task: first.task } : null;
}

/** Where no run helps: a model that is here, and the first task. */
export function anyPair(
  wanted: { model: string | null; task: string | null },
  models: readonly Model[],
  tasks: readonly Task[],
): Pair | null {
  const model = wanted.model ?? models.find(({ ready }) => ready)?.name ?? models[0]?.name;
  const task = wanted.task ?? tasks[0]?.name;
  return model && task ? { model, task } : null;
}
