import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { Run } from "../api/types";
import { moment } from "../format/numbers";
import { NewRunForm } from "../new-run/NewRunForm";
import { ProblemNote } from "../parts/ProblemNote";
import { useAnalyses } from "../results/analyses";
import { go, Link } from "../url/navigation";
import { DEFAULT_VIEW, type Place } from "../url/view";
import "./circuit-test.css";

const ANALYSIS = "circuit-test";

/** A list of heads as a hypothesis: which heads, on what, against what; and what earlier tests found. */
export default function CircuitTestPage({ place }: { place: Extract<Place, { page: "circuit-test" }> }) {
  const analyses = useAnalyses();
  const models = useQuery(queries.models());
  const tasks = useQuery(queries.tasks());
  const error = analyses.error ?? models.error ?? tasks.error;
  const analysis = analyses.data?.find(({ name }) => name === ANALYSIS);
  return (
    <div className="page circuit-test-page">
      <h1>Test a circuit</h1>
      <p className="muted">
        A list of heads is a hypothesis. Type it, paste it or open a file, or name a gating run whose needed
        heads are the circuit; each test says what was shown, what was refuted, and what it could not tell.
        Rankings of a run of effects, and random ones, stand beside it.
      </p>
      {error && (
        <ProblemNote
          error={error}
          retry={() => [analyses, models, tasks].forEach(({ refetch }) => void refetch())}
        />
      )}
      {!error && !(analysis && models.data && tasks.data) && (
        <div className="skeleton grid-skeleton" role="status" aria-label="Loading the form" />
      )}
      {analysis && analyses.data && models.data && tasks.data && (
        <NewRunForm
          place={{ ...place, page: "new", analysis: ANALYSIS }}
          onMove={({ model, task, preset, params }) =>
            go({ page: "circuit-test", model, task, preset, params }, { replace: true })
          }
          analysis={analysis}
          analyses={analyses.data}
          models={models.data}
          tasks={tasks.data}
        />
      )}
      <Earlier model={place.model} />
    </div>
  );
}

/** Tests that are done, of the model where one is chosen. */
function Earlier({ model }: { model: string | null }) {
  const runs = useQuery(
    queries.runs({ analysis: ANALYSIS, status: "done", limit: 20, ...(model === null ? {} : { model }) }),
  );
  const found = runs.data?.runs ?? [];
  if (found.length === 0) return null;
  return (
    <section className="card earlier-tests" aria-label="Earlier tests">
      <h2>Earlier tests</h2>
      <ul>
        {found.map((run) => (
          <li key={run.id}>
            <Link to={{ page: "run", id: run.id, view: DEFAULT_VIEW }}>{titleOf(run)}</Link>{" "}
            <span className="muted small">{moment(run.finished_at)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function titleOf(run: Run): string {
  const told = (name: string) => run.headline_values.find((one) => one.name === name)?.value;
  const heads = `${told("heads") ?? "?"} of ${told("of_heads") ?? "?"} heads`;
  return `${heads} of ${run.model_title} on ${run.task_title ?? run.task}: ${told("tests_shown") ?? 0} of ${told("tests") ?? 0} tests show it, ${told("tests_refuted") ?? 0} refute it`;
}
