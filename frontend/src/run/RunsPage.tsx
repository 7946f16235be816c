import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import { inMotion } from "../api/live";
import { queries } from "../api/queries";
import { type Analysis, FINAL, type Model, type Run, type RunStatus } from "../api/types";
import { duration, moment, plural, progress } from "../format/numbers";
import { Confirm } from "../parts/Dialog";
import { ProblemNote } from "../parts/ProblemNote";
import { Words } from "../parts/Words";
import { seedsText, useAnalyses } from "../results/analyses";
import { GatingHeadline } from "../results/GatingHeadline";
import { hasResult } from "../results/hasResult";
import { ProgressBar } from "../results/RunState";
import { analysisTitle, titleText, titleWords } from "../results/RunTitle";
import { go, Link } from "../url/navigation";
import { DEFAULT_VIEW, NEW_RUN, type Place } from "../url/view";
import { HeadlineLine } from "./analysis/HeadlineCards";
import "./run.css";

type RunsPlace = Extract<Place, { page: "runs" }>;

const STATUSES: RunStatus[] = ["queued", "running", "done", "failed", "cancelled"];
const PAGE = 50;

export default function RunsPage({ place }: { place: RunsPlace }) {
  const [limit, setLimit] = useState(PAGE);
  const { model, task, analysis } = place;
  const status = STATUSES.find((one) => one === place.status) ?? null;
  const query = { model, task, analysis, status, limit };
  const runs = useQuery({
    ...queries.runs(query),
    refetchInterval: ({ state }) => (state.data?.runs.some(inMotion) ? 1500 : 10_000),
  });
  const models = useQuery(queries.models());
  const tasks = useQuery(queries.tasks());
  const analyses = useAnalyses();
  const filtered = [model, task, analysis, status].some((one) => one !== null);
  return (
    <div className="page">
      <div className="section-head">
        <h1>Runs</h1>
        <Link className="button primary" to={{ page: "new", ...NEW_RUN, analysis, model, task }}>
          New run
        </Link>
      </div>
      <div className="filters">
        <Filter
          label="Analysis"
          value={analysis}
          options={analyses.data?.map(({ name, title }) => [name, title]) ?? []}
          onPick={(value) => go({ ...place, analysis: value })}
        />
        <Filter
          label="Model"
          value={model}
          options={models.data?.map(({ name, title }) => [name, title]) ?? []}
          onPick={(value) => go({ ...place, model: value })}
        />
        <Filter
          label="Task"
          value={task}
          options={tasks.data?.map(({ name, title }) => [name, title]) ?? []}
          onPick={(value) => go({ ...place, task: value })}
        />
        <Filter
          label="Status"
          value={status}
          options={STATUSES.map((one) => [one, one])}
          onPick={(value) => go({ ...place, status: value })}
        />
      </div>
      {runs.error && <ProblemNote error={runs.error} retry={runs.refetch} />}
      {runs.isLoading && (
        <div className="skeleton list-skeleton" role="status" aria-label="Loading the runs" />
      )}
      {runs.data?.runs.length === 0 && <NoRuns filtered={filtered} />}
      {runs.data && runs.data.runs.length > 0 && (
        <>
          <ul className="run-list">
            {runs.data.runs.map((run) => (
              <RunRow
                key={run.id}
                run={run}
                analysis={analyses.data?.find(({ name }) => name === run.analysis)}
                model={models.data?.find(({ name }) => name === run.model)}
              />
            ))}
          </ul>
          {runs.data.total > runs.data.runs.length && (
            <button type="button" className="button" onClick={() => setLimit(Math.min(500, limit + PAGE))}>
              Show more of {plural(runs.data.total, "run")}
            </button>
          )}
        </>
      )}
    </div>
  );
}

interface FilterProps {
  label: string;
  value: string | null;
  options: string[][];
  onPick: (value: string | null) => void;
}

function Filter({ label, value, options, onPick }: FilterProps) {
  const known = value === null || options.some(([name]) => name === value);
  return (
    <label className="filter">
      <span className="visually-hidden">{label}</span>
      <select value={value ?? ""} onChange={(event) => onPick(event.target.value || null)}>
        <option value="">{`${label}: all`}</option>
        {!known && <option value={value ?? ""}>{value}</option>}
        {options.map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function NoRuns({ filtered }: { filtered: boolean }) {
  return (
    <section className="card empty">
      <h2>{filtered ? "No run fits this filter" : "No runs yet"}</h2>
      <p className="muted">
        A run computes something of every head of a model: which of them a task needs, where they look, what
        their weights do.
      </p>
      <div className="card-actions">
        {filtered ? (
          <Link
            className="button"
            to={{ page: "runs", model: null, task: null, analysis: null, status: null }}
          >
            Show all runs
          </Link>
        ) : (
          <Link className="button primary" to={{ page: "new", ...NEW_RUN, preset: "quick" }}>
            Start a quick run
          </Link>
        )}
      </div>
    </section>
  );
}

interface RunRowProps {
  run: Run;
  analysis: Analysis | undefined;
  model: Model | undefined;
}

function RunRow({ run, analysis, model }: RunRowProps) {
  const client = useQueryClient();
  const words = titleText(titleWords(run, model));
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<ApiError>();
  const act = async (action: () => Promise<unknown>) => {
    setError(undefined);
    try {
      await action();
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    await client.invalidateQueries({ queryKey: ["runs"] });
  };
  const over = FINAL.has(run.status);
  return (
    <li className="card run-row">
      <div className="run-row-main">
        <Link className="run-row-title" to={{ page: "run", id: run.id, view: DEFAULT_VIEW }}>
          {words}
        </Link>
        <span className="muted small">
          {run.has_roles && `${analysisTitle(run)} · `}
          {run.seeds.length > 1 && `${seedsText(run, analysis)} · `}
          {run.preset && `${run.preset} · `}
          {moment(run.created_at)}
          {run.wall_seconds !== null && ` · took ${duration(run.wall_seconds)}`}
          {run.origin === "gallery" && " · shipped"}
        </span>
      </div>
      <div className="run-row-state">
        <StatusWord run={run} />
        {hasResult(run) &&
          (run.has_roles ? <GatingHeadline headline={run.headline} /> : <HeadlineLine run={run} />)}
        {!over && (
          <ProgressBar fraction={run.notice ? 0 : (run.progress?.fraction ?? null)} label="Progress" />
        )}
        {!over && run.progress && (
          <span className="muted small">
            {run.progress.phase}
            {run.seeds.length > 1 && ` · seeds ${run.progress.seeds}`} · {run.progress.step}/
            {run.progress.steps}
            {run.progress.seconds_left !== null && ` · ${duration(run.progress.seconds_left)} left`}
          </span>
        )}
        {run.notice && !over && (
          <span className="notice small">
            <Words text={run.notice} />
          </span>
        )}
        {run.status === "failed" && run.error && <span className="muted small">{run.error.detail}</span>}
      </div>
      <div className="run-row-actions">
        {over ? (
          <button type="button" className="button quiet" onClick={() => setAsking(true)}>
            Delete
          </button>
        ) : (
          <button type="button" className="button" onClick={() => void act(() => api.cancelRun(run.id))}>
            Cancel
          </button>
        )}
      </div>
      {error && <ProblemNote error={error} />}
      {asking && (
        <Confirm
          title="Delete this run?"
          action="Delete"
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void act(() => api.deleteRun(run.id));
          }}
        >
          <p>
            {words}: its result and every link to it are deleted. The same request can be computed again
            {run.wall_seconds === null ? "" : `, which took ${duration(run.wall_seconds)}`}.
          </p>
        </Confirm>
      )}
    </li>
  );
}

function StatusWord({ run }: { run: Run }) {
  const text =
    run.status === "running" && run.progress ? `running · ${progress(run.progress.fraction)}` : run.status;
  return <span className={`status status-${run.status}`}>{text}</span>;
}
