import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import { queries } from "../api/queries";
import { type Estimate, FINAL, type Model } from "../api/types";
import { duration } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { NotHereYet } from "../parts/Remedy";
import { MAPPED, type Pair } from "../results/maps";
import { go, Link } from "../url/navigation";
import { DEFAULT_VIEW, NEW_RUN } from "../url/view";

interface AtlasEmptyProps {
  model: Model | undefined;
  pair: Pair;
}

/** No map for this pair: what it would take, and the button that makes one. */
export function AtlasEmpty({ model, pair }: AtlasEmptyProps) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const request = { analysis: MAPPED, ...pair, preset: "quick" };
  const ready = model?.ready === true;
  const estimate = useQuery({ ...queries.estimate(request), enabled: ready });
  const running = useQuery(queries.runs({ ...pair, limit: 20 }));
  const current = running.data?.runs.find((run) => !FINAL.has(run.status));
  const start = async () => {
    setBusy(true);
    try {
      const run = await api.startRun(request);
      go({ page: "run", id: run.id, view: DEFAULT_VIEW });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <section className="card empty" aria-label="No map yet">
      <EmptyGrid />
      <h2>This pair has no map yet</h2>
      {!model && <p className="muted">There is no model named {pair.model} here.</p>}
      {model && !ready && <NotHereYet name={model.title} remedy={model.remedy} />}
      {current ? (
        <p>
          A run is under way: <Link to={{ page: "run", id: current.id, view: DEFAULT_VIEW }}>watch it</Link>.
        </p>
      ) : (
        ready && <p className="muted">{inWords(estimate.data)}</p>
      )}
      {(error ?? estimate.error) && <ProblemNote error={error ?? estimate.error} />}
      {estimate.data?.refused && <ProblemNote problem={estimate.data.refused} />}
      <div className="card-actions">
        {ready && !current && (
          <button
            type="button"
            className="button primary"
            disabled={busy || !!estimate.data?.refused}
            onClick={() => void start()}
          >
            Start a quick run
          </button>
        )}
        <Link className="button" to={{ page: "new", ...NEW_RUN, ...pair, analysis: MAPPED, preset: "quick" }}>
          Choose the settings
        </Link>
        <Link className="button" to={{ page: "task", name: pair.task, model: pair.model, split: "train" }}>
          Open the task
        </Link>
      </div>
    </section>
  );
}

function inWords(estimate: Estimate | undefined): string {
  const base = "A quick run fits the gates with few seeds and updates: enough for a first look.";
  return estimate ? `${base} It takes about ${duration(estimate.seconds)} here.` : base;
}

/** The shape of a grid with nothing in it. */
function EmptyGrid() {
  return (
    <svg className="empty-grid" viewBox="0 0 190 52" aria-hidden="true">
      {Array.from({ length: 12 * 3 }, (_, i) => (
        <rect key={i} x={(i % 12) * 16} y={Math.floor(i / 12) * 18} width="13" height="14" rx="3" />
      ))}
    </svg>
  );
}
