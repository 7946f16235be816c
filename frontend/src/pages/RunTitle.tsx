import type { Model, Run } from "../api/types";
import { Link } from "../url/navigation";

type Named = Pick<Run, "analysis" | "title" | "model" | "model_title" | "task" | "task_title">;

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

export function titleWords(run: Named, model?: Pick<Model, "title">): TitleWords {
  const task = run.task_title ?? run.task;
  return {
    model: model?.title ?? run.model_title,
    task,
    analysis: run.analysis === "chg" && task !== null ? null : analysisTitle(run),
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
