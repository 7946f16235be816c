// A run that isn't a result (yet): waiting, computing, failed or cancelled. Never an endless spinner:
// where nothing moves, the server's notice says why.
import { useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import type { Progress, Run } from "../api/types";
import { count, duration, measured, progress as percentDone, plural } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { Words } from "../parts/Words";
import { go, Link } from "../url/navigation";
import { DEFAULT_VIEW } from "../url/view";
import { newRunLike, useAnalysis } from "./analyses";

export function ProgressBar({ fraction, label }: { fraction: number | null; label: string }) {
  return (
    <div
      className={fraction === null ? "progress waiting" : "progress"}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={fraction === null ? undefined : Math.round(fraction * 100)}
    >
      <i style={{ width: `${(fraction ?? 0) * 100}%` }} />
    </div>
  );
}

/** What is known of a run on its way; seeds and loss where the analysis has any. */
function progressFacts({ progress, seeds }: { progress: Progress; seeds: number[] }): [string, string][] {
  const facts: [string, string][] = [["Phase", progress.phase]];
  if (seeds.length > 1 && progress.seeds !== "") facts.push(["Seeds", progress.seeds]);
  if (progress.steps > 0) facts.push(["Step", `${count(progress.step)} of ${count(progress.steps)}`]);
  if (progress.loss !== null) facts.push(["Loss", `${measured(progress.loss)} nats`]);
  const { seconds_left: left } = progress;
  return [...facts, ["Time left", left === null ? "–" : `about ${duration(left)}`]];
}

/** Send the run's own request again. */
async function again(run: Run): Promise<Run> {
  return api.startRun({
    analysis: run.analysis,
    model: run.model,
    task: run.task,
    preset: run.preset,
    params: run.params,
  });
}

interface RunStateProps {
  run: Run;
  onRun: (run: Run) => void;
  readOnly: boolean;
}

/** What a run that has no result shows. */
export function RunState({ run, onRun, readOnly }: RunStateProps) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const act = (action: () => Promise<Run>) => async () => {
    setBusy(true);
    setError(undefined);
    try {
      const next = await action();
      if (next.id === run.id) onRun(next);
      else go({ page: "run", id: next.id, view: DEFAULT_VIEW });
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  const analysis = useAnalysis(run.analysis);
  const moving = run.status === "queued" || run.status === "running";
  return (
    <section className="card run-state" aria-label="State of the run">
      {moving && <Moving run={run} />}
      {run.status === "failed" && <Failed run={run} />}
      {run.status === "cancelled" && <Cancelled run={run} />}
      {error && <ProblemNote error={error} />}
      {!readOnly && (
        <div className="card-actions">
          {moving ? (
            <button
              type="button"
              className="button"
              disabled={busy}
              onClick={act(() => api.cancelRun(run.id))}
            >
              Cancel
            </button>
          ) : (
            <>
              {!isRefused(run) && (
                <button
                  type="button"
                  className="button primary"
                  disabled={busy}
                  onClick={act(() => again(run))}
                >
                  {run.status === "failed" ? "Try again" : "Restart"}
                </button>
              )}
              <Link className={isRefused(run) ? "button primary" : "button"} to={newRunLike(run, analysis)}>
                Change the settings
              </Link>
            </>
          )}
        </div>
      )}
    </section>
  );
}

function Moving({ run }: { run: Run }) {
  const { progress } = run;
  return (
    <>
      <h2>
        {run.status === "queued"
          ? "Waiting for a worker"
          : `Computing · ${percentDone(progress?.fraction ?? 0)}`}
      </h2>
      {run.notice && (
        <p className="notice" role="alert">
          <Words text={run.notice} />
        </p>
      )}
      <ProgressBar fraction={run.notice ? 0 : (progress?.fraction ?? null)} label="Progress of the run" />
      {progress ? (
        <dl className="progress-facts">
          {progressFacts({ progress, seeds: run.seeds }).map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      ) : (
        !run.notice && (
          <p className="muted">
            {run.status === "queued" ? "It starts as soon as one is free." : "Loading the model."}
          </p>
        )
      )}
      <p className="muted small">You can leave this page: the run continues and stays listed under Runs.</p>
    </>
  );
}

/** What may be otherwise the next time: the machine's memory, what changed since, the worker's version. */
const PASSING = new Set([
  "no-memory",
  "no-room",
  "out-of-memory",
  "model-changed",
  "task-changed",
  "analysis-version",
  "unknown-analysis",
]);

/** The run's own settings are at fault: the same again would fail again. */
function isRefused({ error }: Run): boolean {
  return !!error && error.status >= 400 && error.status < 500 && !PASSING.has(error.code);
}

function Failed({ run }: { run: Run }) {
  return (
    <>
      <h2>This run failed</h2>
      {run.error ? (
        <ProblemNote problem={run.error} />
      ) : (
        <p className="muted">It recorded no reason; the worker’s log may say more.</p>
      )}
      {!isRefused(run) && <p className="muted small">Finished pieces are kept: a retry resumes from them.</p>}
    </>
  );
}

function Cancelled({ run }: { run: Run }) {
  return (
    <>
      <h2>This run was cancelled</h2>
      <p className="muted">
        {run.partial
          ? `Below is what was complete by then, of ${plural(run.seeds.length, "seed")}. A restart fits the rest, and the full result replaces this one.`
          : "Finished pieces are kept: a restart resumes from them."}
      </p>
    </>
  );
}
