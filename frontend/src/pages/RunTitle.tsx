import type { Model, Run } from "../api/types";

/** "SmolLM2-135M on singular → plural". */
export function titleWords(
  run: Pick<Run, "model" | "task" | "task_title">,
  model?: Pick<Model, "title">,
): [string, string] {
  return [model?.title ?? run.model, run.task_title ?? run.task ?? "no task"];
}
