// Which runs the comparison proposes, and how a choice changes.
import type { Run } from "../api/types";
import { mapOf } from "../results/maps";
import type { ComparisonName } from "../url/compare";

/** As many as the server compares. */
export const MOST_RUNS = 24;

export interface ModelChoice {
  model: string;
  title: string;
  /** The run that stands for each task: see `mapOf`. */
  best: Run[];
  /** Further runs of the same tasks. */
  others: Run[];
}

/** Finished gating runs by model, in the order of the list. */
export function choicesOf(runs: readonly Run[]): ModelChoice[] {
  const models = [...new Set(runs.map(({ model }) => model))];
  return models.map((model) => {
    const own = runs.filter((run) => run.model === model && run.task !== null);
    const tasks = [...new Set(own.map(({ task }) => task as string))];
    const best = tasks.flatMap((task) => mapOf({ model, task }, own) ?? []);
    return {
      model,
      title: own[0]?.model_title ?? model,
      best,
      others: own.filter((run) => !best.includes(run)),
    };
  });
}

/** What is shown where the address names no runs; heads only match within a model, so overlap takes the one with most tasks. */
export function proposed(view: ComparisonName, runs: readonly Run[]): string[] {
  const choices = choicesOf(runs);
  const richest = [...choices].sort((a, b) => b.best.length - a.best.length).slice(0, 1);
  return (view === "overlap" ? richest : choices)
    .flatMap(({ best }) => best.map(({ id }) => id))
    .slice(0, MOST_RUNS);
}

/** The models among the chosen runs, those with other weights apart. Of runs that aren't listed nothing is known. */
export function modelsOf(chosen: readonly string[], runs: readonly Run[]): string[] {
  const found = runs.filter(({ id }) => chosen.includes(id));
  const titles = new Map(found.map((run) => [run.model_info?.revision ?? run.model, run.model_title]));
  return [...titles.values()];
}

export function toggled(chosen: readonly string[], id: string): string[] {
  return chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id];
}

export interface Suggestion {
  text: string;
  runs: string[];
}

/** What one run may be compared with: its model on other tasks, its task in other models. */
export function suggestions(id: string, runs: readonly Run[]): Suggestion[] {
  const run = runs.find((one) => one.id === id);
  if (!run) return [];
  const best = choicesOf(runs).flatMap((choice) => choice.best);
  const beside = (text: string, fits: (other: Run) => boolean): Suggestion[] => {
    const found = best.filter((other) => other.id !== id && fits(other)).map((other) => other.id);
    return found.length > 0
      ? [{ text: `${text} (${found.length})`, runs: [id, ...found].slice(0, MOST_RUNS) }]
      : [];
  };
  return [
    ...beside(`Other tasks of ${run.model_title}`, (one) => one.model === run.model && one.task !== run.task),
    ...beside(
      `${run.task_title ?? run.task} in other models`,
      (one) => one.model !== run.model && one.task === run.task,
    ),
    ...beside("Everything else", (one) => one.model !== run.model || one.task !== run.task),
  ];
}

/** What tells a run from another of its task: "5 seeds · quick · 1 Jan". */
export function particulars(run: Run): string {
  const seeds = `${run.seeds.length} seed${run.seeds.length === 1 ? "" : "s"}`;
  return [seeds, run.preset, run.id.slice(0, 8)].filter(Boolean).join(" · ");
}
