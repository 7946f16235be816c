import { type FormEvent, useEffect, useMemo, useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import { useResource } from "../api/resource";
import type { Analysis, Estimate, Model, RunRequest, Task } from "../api/types";
import { SchemaForm } from "../form/SchemaForm";
import { complaints, fieldsOf, overrides, presetValues, type Values } from "../form/schema";
import { bytes, duration } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { NotHereYet } from "../parts/Remedy";
import { Segmented } from "../parts/Segmented";
import { go, Link } from "../url/navigation";
import { DEFAULT_VIEW, type Place } from "../url/view";

type NewPlace = Extract<Place, { page: "new" }>;

export default function NewRunPage({ place }: { place: NewPlace }) {
  const analyses = useResource("analyses", (signal) => api.analyses(signal));
  const models = useResource("models", (signal) => api.models(signal));
  const tasks = useResource("tasks", (signal) => api.tasks(signal));
  const error = analyses.error ?? models.error ?? tasks.error;
  const analysis = analyses.data?.find(({ name }) => name === "chg") ?? analyses.data?.[0];
  return (
    <div className="page form-page">
      <h1>New run</h1>
      {analysis && models.data && tasks.data ? (
        <NewRun place={place} analysis={analysis} models={models.data} tasks={tasks.data} />
      ) : error ? (
        <ProblemNote
          error={error}
          retry={() => [analyses, models, tasks].forEach(({ reload }) => void reload())}
        />
      ) : (
        <div className="skeleton grid-skeleton" role="status" aria-label="Loading the form" />
      )}
    </div>
  );
}

interface NewRunProps {
  place: NewPlace;
  analysis: Analysis;
  models: Model[];
  tasks: Task[];
}

function NewRun({ place, analysis, models, tasks }: NewRunProps) {
  const presets = Object.keys(analysis.presets);
  const preset = presets.find((name) => name === place.preset) ?? presets[0] ?? null;
  const model = place.model ?? models.find(({ ready }) => ready)?.name ?? models[0]?.name ?? "";
  const task = analysis.needs_task ? (place.task ?? tasks[0]?.name ?? null) : null;
  const groups = useMemo(() => fieldsOf(analysis.params_schema, analysis.presets), [analysis]);
  const fields = useMemo(() => groups.flat(), [groups]);
  const base = useMemo(
    () => presetValues(fields, analysis.presets[preset ?? ""] ?? {}),
    [fields, analysis, preset],
  );
  const [values, setValues] = useState<Values>(base);
  useEffect(() => setValues(base), [base]);
  const wrong = complaints(analysis.params_schema, fields, values);
  const valid = Object.keys(wrong).length === 0;
  const request: RunRequest = {
    analysis: analysis.name,
    model,
    task,
    preset,
    params: overrides(values, base),
  };
  const chosen = models.find(({ name }) => name === model);

  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const move = (change: Partial<NewPlace>) =>
    go({ ...place, model, task, preset, ...change }, { replace: true });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const run = await api.startRun(request);
      go({ page: "run", id: run.id, view: DEFAULT_VIEW });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };

  return (
    <form className="card form-card" onSubmit={submit}>
      <p className="muted">{analysis.summary}</p>
      <div className="fields">
        <label className="field">
          Model
          <select value={model} onChange={(event) => move({ model: event.target.value })}>
            {!chosen && <option value={model}>{model}</option>}
            {models.map(({ name, title, ready }) => (
              <option key={name} value={name}>
                {title}
                {ready ? "" : " (not here yet)"}
              </option>
            ))}
          </select>
        </label>
        {analysis.needs_task && (
          <label className="field">
            Task
            <select value={task ?? ""} onChange={(event) => move({ task: event.target.value })}>
              {tasks.every(({ name }) => name !== task) && <option value={task ?? ""}>{task}</option>}
              {tasks.map(({ name, title }) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      {chosen && !chosen.ready && <NotHereYet name={chosen.title} remedy={chosen.remedy} />}
      {preset !== null && (
        <div className="preset-row">
          <Segmented
            label="Preset"
            options={presets.map((name) => ({ value: name, text: name }))}
            value={preset}
            onChange={(name) => move({ preset: name })}
          />
          {Object.keys(request.params ?? {}).length > 0 && (
            <button type="button" className="link-button" onClick={() => setValues(base)}>
              back to the preset
            </button>
          )}
        </div>
      )}
      <SchemaForm groups={groups} values={values} complaints={wrong} onChange={setValues} />
      <EstimateBox request={request} valid={valid} asked={chosen === undefined || chosen.ready} />
      {error && <ProblemNote error={error} />}
      <div className="card-actions">
        <button type="submit" className="button primary" disabled={busy || !valid || chosen?.ready === false}>
          Start
        </button>
      </div>
    </form>
  );
}

interface EstimateBoxProps {
  request: RunRequest;
  valid: boolean;
  /** Whether the model is here: nothing can be said before. */
  asked: boolean;
}

/** What the run will take, asked for once typing rests. */
function EstimateBox({ request, valid, asked }: EstimateBoxProps) {
  const wanted = JSON.stringify(request);
  const [settled, setSettled] = useState(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wanted), 350);
    return () => clearTimeout(timer);
  }, [wanted]);
  const estimate = useResource(valid && asked ? `estimate ${settled}` : null, (signal) =>
    api.estimate(JSON.parse(settled) as RunRequest, signal),
  );
  return (
    <section
      className="estimate"
      aria-label="What it will take"
      aria-live="polite"
      aria-busy={settled !== wanted || estimate.loading}
    >
      {!valid && <p className="muted">An estimate comes once the settings above hold.</p>}
      {estimate.error && <ProblemNote error={estimate.error} retry={estimate.reload} />}
      {estimate.loading && <div className="skeleton text" />}
      {estimate.data && <EstimateFacts estimate={estimate.data} />}
    </section>
  );
}

const EXISTING = {
  done: "This very run is done: starting it opens its result.",
  queued: "This very run is waiting already: starting it opens it.",
  running: "This very run is being computed: starting it opens it.",
  failed: "This very run failed before: starting it tries again from its last finished piece.",
  cancelled: "This very run was cancelled before: starting it goes on from its last finished piece.",
} as const;

function EstimateFacts({ estimate }: { estimate: Estimate }) {
  return (
    <>
      <p>
        About <strong>{duration(estimate.seconds)}</strong> and <strong>{bytes(estimate.peak_bytes)}</strong>{" "}
        of memory
        {estimate.queue ? ` on a ${estimate.queue} worker` : ""}.{" "}
        <span className="muted">{estimate.basis}</span>
      </p>
      {estimate.refused && <ProblemNote problem={estimate.refused} />}
      {estimate.existing && (
        <p className="notice">
          {EXISTING[estimate.existing]}{" "}
          <Link to={{ page: "run", id: estimate.run_id, view: DEFAULT_VIEW }}>Open it</Link>
        </p>
      )}
    </>
  );
}
