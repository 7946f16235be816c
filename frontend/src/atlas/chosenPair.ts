// Which map the atlas opens.
import type { Model, Run, Task } from "../api/types";
import { isSteering } from "../results/headline";
import type { Pair } from "../results/maps";

function headCount(run: Run): number {
  return Number(run.model_info?.n_layers ?? 0) * Number(run.model_info?.n_heads ?? 0);
}

/** Whether the model can do the task: then the map says what heads are for. */
function able({ headline }: Run): number {
  return isSteering(headline) ? 0 : 1;
}

/** How much shutting harmful heads lifts held-out accuracy: the larger, the more a map tells. */
function lift({ headline }: Run): number {
  const [before, after] = [headline?.accuracy_ungated, headline?.accuracy_plus];
  return typeof before === "number" && typeof after === "number" ? after - before : Number.NEGATIVE_INFINITY;
}

/**
 * What the address names, completed by the runs there are: where it says nothing, the largest model that has a
 * shipped map, on a task that it can do, of these the one whose map tells most. A newcomer's first sight is a real language model.
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
    (a, b) => headCount(b) - headCount(a) || able(b) - able(a) || lift(b) - lift(a) || 0,
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
