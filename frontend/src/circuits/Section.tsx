import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import { queries } from "../api/queries";
import type { Analysis, Run, RunRequest } from "../api/types";
import { duration } from "../format/numbers";
import { ExportMenu } from "../parts/ExportMenu";
import { ProblemNote } from "../parts/ProblemNote";
import { ShareButton } from "../parts/ShareDialog";
import type { RunSubject } from "../parts/subject";
import { RunState } from "../results/RunState";
import { Link } from "../url/navigation";
import { type CircuitsView, DEFAULT_VIEW, formatPlace, NEW_RUN } from "../url/view";
import { fits, processings, type SectionRuns, sectionRequest } from "./circuitRuns";

interface SectionProps {
  analysis: Analysis;
  model: string;
  weights: string | null;
  runs: SectionRuns;
  view: CircuitsView;
  reload: () => void;
  children: (run: Run) => ReactNode;
}

/** One analysis of the model: its figures, or what it takes to have them. */
export function Section({ analysis, model, weights, runs, view, reload, children }: SectionProps) {
  const { done, open } = runs;
  return (
    <section className="circuit-section" aria-label={analysis.title}>
      <div className="section-head">
        <h2>{analysis.title}</h2>
        {done && <SectionTools run={done} view={view} />}
      </div>
      <p className="caption">{analysis.summary}</p>
      {open && <RunState run={open} onRun={reload} readOnly={false} />}
      {done && children(done)}
      {!done && !open && fits(analysis, weights) && (
        <Missing analysis={analysis} model={model} weights={weights} onStarted={reload} />
      )}
      {!done && !open && !fits(analysis, weights) && (
        <p className="card muted">
          This is read from {processings(analysis).join(" or ")} weights only: choose them above.
        </p>
      )}
    </section>
  );
}

/** The result behind a section: its own page, its files, a link for others. */
function SectionTools({ run, view: { head, threshold } }: { run: Run; view: CircuitsView }) {
  const view = { ...DEFAULT_VIEW, head, threshold };
  const path = formatPlace({ page: "run", id: run.id, view: DEFAULT_VIEW });
  const subject: RunSubject = { kind: "run", run, view, share: null, path };
  return (
    <div className="picture-tools">
      <Link className="button quiet" to={{ page: "run", id: run.id, view }}>
        Full result
      </Link>
      <ExportMenu subject={subject} quiet />
      <ShareButton subject={subject} quiet />
    </div>
  );
}

interface MissingProps {
  analysis: Analysis;
  model: string;
  weights: string | null;
  onStarted: () => void;
}

/** Nothing computed yet: how long it takes, and the button; or why it can't be. */
function Missing({ analysis, model, weights, onStarted }: MissingProps) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const request = sectionRequest(analysis, model, weights);
  const estimate = useQuery(queries.estimate(request));
  const start = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await api.startRun(request);
      onStarted();
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  const { data } = estimate;
  return (
    <div className="card missing">
      {estimate.error ? (
        <ProblemNote error={estimate.error} />
      ) : (
        <p className="muted">
          Not computed yet{weights === null ? "" : ` from ${weights} weights`}
          {data && !data.refused && `: it takes about ${duration(data.seconds)} here`}.
        </p>
      )}
      {data?.refused && <ProblemNote problem={data.refused} />}
      {error && <ProblemNote error={error} />}
      {!estimate.error && (
        <div className="card-actions">
          <button
            type="button"
            className="button primary"
            disabled={busy || estimate.isLoading || !!data?.refused}
            onClick={() => void start()}
          >
            Compute
          </button>
          <Link className="button" to={settingsPlace(request)}>
            Choose the settings
          </Link>
        </div>
      )}
    </div>
  );
}

function settingsPlace({ analysis, model, preset, params }: RunRequest) {
  const texts = Object.entries(params ?? {}).map(([name, value]) => [name, String(value)]);
  return {
    page: "new" as const,
    ...NEW_RUN,
    analysis: analysis ?? null,
    model,
    preset: preset ?? null,
    params: Object.fromEntries(texts) as Record<string, string>,
  };
}
