import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { Analysis, Model, Run } from "../api/types";
import { moment, plural } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { useAnalyses } from "../results/analyses";
import { Link } from "../url/navigation";
import { DEFAULT_VIEW, NEW_RUN } from "../url/view";

/** What has been computed on a model, and what could be. */
export function ModelRuns({ model }: { model: Model }) {
  const analyses = useAnalyses();
  const runs = useQuery(queries.runs({ model: model.name, limit: 500 }));
  const error = analyses.error ?? runs.error;
  return (
    <section className="card" aria-label="What has been computed">
      <h2>What has been computed on it</h2>
      {error && <ProblemNote error={error} retry={runs.refetch} />}
      {!error && !(runs.data && analyses.data) && (
        <div className="skeleton head-skeleton" role="status" aria-label="Loading the runs" />
      )}
      {runs.data && analyses.data && (
        <ul className="model-runs">
          {analyses.data.map((analysis) => (
            <Row
              key={analysis.name}
              analysis={analysis}
              model={model}
              runs={runs.data?.runs.filter((run) => run.analysis === analysis.name) ?? []}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ analysis, model, runs }: { analysis: Analysis; model: Model; runs: Run[] }) {
  const done = runs.filter((run) => run.status === "done");
  const moving = runs.find((run) => run.status === "running" || run.status === "queued");
  const [only] = done;
  return (
    <li>
      <span>
        <strong>{analysis.title}</strong>
        <span className="muted small">{analysis.summary}</span>
      </span>
      <span className="model-runs-links">
        {moving && <Link to={{ page: "run", id: moving.id, view: DEFAULT_VIEW }}>under way</Link>}
        {only && done.length === 1 && (
          <Link to={{ page: "run", id: only.id, view: DEFAULT_VIEW }}>
            {only.task_title ?? moment(only.finished_at)}
          </Link>
        )}
        {done.length > 1 && (
          <Link to={{ page: "runs", model: model.name, task: null, analysis: analysis.name, status: "done" }}>
            {plural(done.length, "result")}
          </Link>
        )}
        {model.ready && (
          <Link
            className="muted"
            to={{ page: "new", ...NEW_RUN, analysis: analysis.name, model: model.name }}
            aria-label={`Compute ${analysis.title}`}
          >
            {done.length > 0 ? "again" : "compute"}
          </Link>
        )}
      </span>
    </li>
  );
}

/** The way to a model's induction heads: the newest result, or the form that computes one. */
export function InductionLink({ model }: { model: Model }) {
  const runs = useQuery(queries.runs({ model: model.name, analysis: "induction", status: "done", limit: 1 }));
  const [run] = runs.data?.runs ?? [];
  if (!run && !model.ready) return null;
  return (
    <Link
      className="button"
      to={
        run
          ? { page: "run", id: run.id, view: DEFAULT_VIEW }
          : { page: "new", ...NEW_RUN, analysis: "induction", model: model.name }
      }
    >
      Its induction heads
    </Link>
  );
}
