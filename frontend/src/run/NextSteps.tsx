import type { Analysis, Run } from "../api/types";
import { useAnalyses, wantedRun } from "../results/analyses";
import { DEFAULT_COMPARE } from "../url/compare";
import { Link } from "../url/navigation";
import { NEW_RUN, type Place } from "../url/view";

const CIRCUIT_TEST = "circuit-test";

/** The forms that build on this run, with it filled in. */
export function stepsFrom(run: Run, analyses: readonly Analysis[]): { analysis: Analysis; to: Place }[] {
  return analyses.flatMap((analysis) => {
    if (analysis.name === run.analysis) return []; // adding seeds has a place of its own
    const name = Object.entries(analysis.references).find(
      ([param, kind]) => kind === "run" && wantedRun(analysis, param).analysis === run.analysis,
    )?.[0];
    if (name === undefined) return [];
    const preset = Object.keys(analysis.presets)[0] ?? null;
    const { model } = run;
    const task = analysis.needs_task ? run.task : null;
    const request = { model, task, preset, params: { [name]: run.id } };
    const to: Place =
      analysis.name === CIRCUIT_TEST
        ? { page: "circuit-test", ...request }
        : { page: "new", ...NEW_RUN, analysis: analysis.name, ...request };
    return [{ analysis, to }];
  });
}

/** What can be computed from this run, one click away. */
export function NextSteps({ run }: { run: Run }) {
  const steps = stepsFrom(run, useAnalyses().data ?? []);
  if ((steps.length === 0 && !run.has_roles) || run.partial) return null;
  return (
    <section className="card next-steps" aria-label="Next steps">
      <h3>Next steps</h3>
      {steps.map(({ analysis, to }) => (
        <div key={analysis.name}>
          <Link to={to}>
            {analysis.name === CIRCUIT_TEST && run.has_roles
              ? "Test these heads as a circuit"
              : analysis.title}
          </Link>
          <p className="muted small">{analysis.summary}</p>
        </div>
      ))}
      {run.has_roles && (
        <div>
          <Link to={{ page: "compare", ...DEFAULT_COMPARE, runs: [run.id] }}>Compare with…</Link>
          <p className="muted small">Other tasks of this model, or the same task in others, side by side.</p>
        </div>
      )}
    </section>
  );
}
