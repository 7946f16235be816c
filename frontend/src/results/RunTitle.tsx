import type { Model, Run } from "../api/types";
import { Link } from "../url/navigation";

type Named = Pick<Run, "has_roles" | "title" | "model" | "model_title" | "task" | "task_title" | "params">;

export interface TitleWords {
  model: string;
  /** What the model was given; null where the analysis needs no task. */
  task: string | null;
  /** The analysis in words; null for gates on a task, which is what a bare title means. */
  analysis: string | null;
}

/** An analysis' title, out of a run's: "Causal head gating". */
export function analysisTitle(run: Pick<Run, "title">): string {
  return run.title.split(/[:·]/)[0]?.trim() || run.title;
}

/** The tasks that a run names in its settings, in words: "capitalize without antonym", "antonym, capitalize". */
export function namedTasks({ params, task }: Pick<Run, "params" | "task">): string | null {
  const names = (value: unknown) =>
    Array.isArray(value) ? value.filter((name) => typeof name === "string" && name !== task) : [];
  const [retain, forget, tasks] = [params.retain, params.forget, params.tasks].map(names);
  if (retain?.length && forget?.length) return `${retain.join(", ")} without ${forget.join(", ")}`;
  return tasks?.length ? tasks.join(", ") : null;
}

export function titleWords(run: Named, model?: Pick<Model, "title">): TitleWords {
  const own = run.task_title ?? run.task;
  const task = own ?? namedTasks(run);
  return {
    model: model?.title ?? run.model_title,
    task,
    analysis: run.has_roles && own !== null ? null : analysisTitle(run),
  };
}

/** "SmolLM2-135M on singular → plural", "SmolLM2-135M · Induction heads". */
export function titleText(words: TitleWords): string {
  const { model, task, analysis } = words;
  return `${model}${task === null ? "" : ` on ${task}`}${analysis === null ? "" : ` · ${analysis}`}`;
}

/** The title, whose words lead to what they name. */
export function RunHeading({ run, words }: { run: Run; words: TitleWords }) {
  return (
    <h1>
      <Link to={{ page: "model", name: run.model }} className="title-link">
        {words.model}
      </Link>
      {run.task === null && words.task !== null && ` on ${words.task}`}
      {run.task !== null && (
        <>
          {" on "}
          <Link
            to={{ page: "task", name: run.task, model: run.model, split: "train" }}
            className="title-link"
          >
            {words.task}
          </Link>
        </>
      )}
      {words.analysis !== null && ` · ${words.analysis}`}
    </h1>
  );
}
