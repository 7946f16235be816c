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

/**
 * What the address names, completed: where it says nothing, the largest model that has a shipped map, on the first
 * task that has one: a newcomer's first sight is a real language model.
 */
export function chosenPair(
  wanted: { model: string | null; task: string | null },
  models: readonly Model[],
  tasks: readonly Task[],
  runs: readonly Run[],
): Pair | null {
  const fitting = runs.filter(
    (run) =>
      run.task !== null &&
      (wanted.model === null || run.model === wanted.model) &&
      (wanted.task === null || run.task === wanted.task),
  );
  const shipped = fitting.filter((run) => run.origin === "gallery");
  const order = tasks.map((task) => task.name);
  const place = (run: Run) => (order.indexOf(run.task ?? "") + order.length + 1) % (order.length + 1);
  const [first] = (shipped.length > 0 ? shipped : [...fitting])
    .slice()
    .sort((a, b) => headCount(b) - headCount(a) || place(a) - place(b));
  const model = wanted.model ?? first?.model ?? models.find(({ ready }) => ready)?.name ?? models[0]?.name;
  const task = wanted.task ?? first?.task ?? tasks[0]?.name;
  return model && task ? { model, task } : null;
}
