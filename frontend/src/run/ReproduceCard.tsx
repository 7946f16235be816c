import { useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import { addressOf } from "../api/http";
import { type Attempt, FINAL, type Run } from "../api/types";
import { duration, moment, number } from "../format/numbers";
import { CopyButton } from "../parts/CopyButton";
import { ProblemNote } from "../parts/ProblemNote";
import { newRunLike, useAnalysis } from "../results/analyses";
import { Link } from "../url/navigation";

interface ReproduceCardProps {
  run: Run;
  /** The share by which a guest reads: no buttons that compute. */
  share: string | null;
  onRun: (run: Run) => void;
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** How to get this result again, and what came of it when somebody did. */
export function ReproduceCard({ run, share, onRun }: ReproduceCardProps) {
  const readOnly = share !== null;
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const analysis = useAnalysis(run.analysis);
  const computing = run.attempts.some((attempt) => !FINAL.has(attempt.status));
  const reproduce = async () => {
    setBusy(true);
    setError(undefined);
    try {
      onRun(await api.reproduceRun(run.id));
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="card reproduce" aria-label="Reproduce">
      <h3>Reproduce</h3>
      <pre className="command">{run.reproduce}</pre>
      <p className="muted small">{factsOf(run)}</p>
      <details>
        <summary>All parameters</summary>
        <dl className="facts-list">
          {Object.entries(run.params).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{shown(value)}</dd>
            </div>
          ))}
        </dl>
      </details>
      {run.attempts.length > 0 && <Attempts attempts={run.attempts} />}
      <div className="card-actions">
        <CopyButton text={run.reproduce} label="Copy command" />
        {!readOnly && !run.partial && (
          <button
            type="button"
            className="button"
            disabled={busy || computing}
            onClick={() => void reproduce()}
          >
            {computing ? "Computing again…" : "Reproduce"}
          </button>
        )}
        {run.result !== null && (
          <a
            className="button"
            href={addressOf("/api/v1/runs/{run_id}/export", {
              path: { run_id: run.id },
              query: { format: "ipynb", share },
            })}
            title="Downloads a Jupyter notebook that finds this run, or computes it again, and shows it"
            download
          >
            Open in notebook
          </a>
        )}
        {!readOnly && (
          <Link className="button" to={newRunLike(run, analysis)}>
            Change and run
          </Link>
        )}
      </div>
      {error && <ProblemNote error={error} />}
    </section>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return number(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function factsOf(run: Run): string {
  const { params } = run;
  const revision = text(run.model_info?.revision);
  const dtype = text(run.model_info?.dtype) ?? text(params.dtype);
  const steps = Number(params.steps);
  const batch = Number(params.batch_size);
  return [
    revision && `model ${revision.slice(0, 8)}…`,
    dtype,
    run.has_roles && steps > 0 && `${steps} + ${steps} + ${steps} updates${batch > 0 ? ` × ${batch}` : ""}`,
    run.wall_seconds !== null &&
      `computed in ${duration(run.wall_seconds)}${run.machine ? ` on ${run.machine}` : ""}`,
    `headscope ${run.code_version}`,
    run.finished_at && moment(run.finished_at),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** "identical", or the largest difference to the first finished attempt. */
function driftText({ drift, number: n, status }: Attempt): string {
  if (status !== "done") return status;
  if (n === 1 && !drift) return "first";
  if (drift === null) return "not compared";
  return drift === 0 ? "identical" : `differs by ≤ ${number(drift)}`;
}

function Attempts({ attempts }: { attempts: Attempt[] }) {
  return (
    <ol className="attempts" aria-label="Attempts">
      {attempts.map((attempt) => (
        <li key={attempt.number}>
          <span>Attempt {attempt.number}</span>
          <span title="Largest difference of any number from the first finished attempt">
            {driftText(attempt)}
          </span>
          <span className="muted">{attempt.wall_seconds === null ? "" : duration(attempt.wall_seconds)}</span>
        </li>
      ))}
    </ol>
  );
}
