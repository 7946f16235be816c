import { type FormEvent, useEffect, useMemo, useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import type { Analysis, Model, RunRequest, Task } from "../api/types";
import { complaints } from "../form/complaints";
import { type PickerInput, SchemaForm } from "../form/SchemaForm";
import { type Field, fieldsOf, filled, overrides, presetValues, textOf, type Values } from "../form/schema";
import { ProblemNote } from "../parts/ProblemNote";
import { NotHereYet } from "../parts/Remedy";
import { Segmented } from "../parts/Segmented";
import { wantedRun } from "../results/analyses";
import { KnownAbility } from "../results/KnownAbility";
import { lostFor, Proved } from "../results/Proved";
import { go } from "../url/navigation";
import { DEFAULT_VIEW, type Place } from "../url/view";
import { EstimateBox } from "./EstimateBox";
import { HeadsInput } from "./HeadsInput";
import { GatesPicker, PromptsPicker, RunPicker, TaskPicker, TasksPicker } from "./ReferencePicker";

type NewPlace = Extract<Place, { page: "new" }>;

interface NewRunFormProps {
  place: NewPlace;
  analysis: Analysis;
  analyses: Analysis[];
  models: Model[];
  tasks: Task[];
  /** Where a choice leads, on a page that isn't the form's own. */
  onMove?: (place: NewPlace) => void;
}

/** The preset that the address names, else the first. */
function presetOf(analysis: Analysis, named: string | null): string | null {
  const presets = Object.keys(analysis.presets);
  return presets.find((name) => name === named) ?? presets[0] ?? null;
}

/** The form's fields, what a preset gives them, and what the reader made of it. */
function useFields(analysis: Analysis, preset: string | null, given: Record<string, string>) {
  const groups = useMemo(() => {
    // What the usual preset names and what the chosen one does: others' settings stay folded away.
    const named = [presetOf(analysis, null), preset].filter((name) => name !== null);
    const presets = Object.fromEntries(named.map((name) => [name, analysis.presets[name] ?? {}]));
    const [first = [], ...rest] = fieldsOf(analysis.params_schema, presets);
    // What a run is built on comes first, whether a preset names it or not.
    const subject = ({ name, kind }: Field) => kind === "heads" || name in analysis.references;
    const others = (group: Field[]) => group.filter((field) => !subject(field));
    const subjects = [first, ...rest].flat().filter(subject);
    return [[...subjects, ...others(first)], ...rest.map(others)];
  }, [analysis, preset]);
  const fields = useMemo(() => groups.flat(), [groups]);
  const base = useMemo(
    () => presetValues(fields, analysis.presets[preset ?? ""] ?? {}),
    [fields, analysis, preset],
  );
  const wanted = JSON.stringify(given);
  const start = useMemo(() => {
    const texts = JSON.parse(wanted) as Record<string, string>;
    return { ...base, ...filled(fields, listed(texts, analysis)) };
  }, [base, fields, wanted, analysis]);
  const [values, setValues] = useState<Values>(start);
  useEffect(() => setValues(start), [start]);
  return { groups, fields, base, values, setValues };
}

export function NewRunForm({ place, analysis, analyses, models, tasks, onMove }: NewRunFormProps) {
  const preset = presetOf(analysis, place.preset);
  const model = place.model ?? models.find(({ ready }) => ready)?.name ?? models[0]?.name ?? "";
  const task = analysis.needs_task ? (place.task ?? tasks[0]?.name ?? null) : null;
  const { groups, fields, base, values, setValues } = useFields(analysis, preset, place.params);
  const wrong = complaints(analysis.params_schema, fields, values);
  for (const name of missing(analysis, fields, values)) wrong[name] = "Choose one.";
  const valid = Object.keys(wrong).length === 0;
  const params = overrides(values, base);
  const request: RunRequest = { analysis: analysis.name, model, task, preset, params };
  const chosen = models.find(({ name }) => name === model);

  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const move = (change: Partial<NewPlace>) => {
    const to = { ...place, analysis: analysis.name, model, task: task ?? place.task, preset, ...change };
    if (onMove) onMove(to);
    else go(to, { replace: true });
  };
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
  const picker = (input: PickerInput) => {
    if (input.field.kind === "heads") return <HeadsInput {...input} model={model} />;
    const kind = analysis.references[input.field.name];
    if (kind === undefined) return undefined;
    const props = { ...input, model, task, onTask: (name: string) => move({ task: name }) };
    if (kind === "prompts") return <PromptsPicker {...props} />;
    if (kind === "gates") return <GatesPicker {...props} />;
    if (kind === "task") return <TaskPicker {...input} tasks={tasks} />;
    if (kind === "tasks") return <TasksPicker {...input} tasks={tasks} />;
    const { analysis: of, sameTask } = wantedRun(analysis, input.field.name);
    const wanted = analyses.find(({ name }) => name === of);
    return wanted && <RunPicker {...props} analysis={wanted} sameTask={sameTask} />;
  };

  return (
    <form className="card form-card" onSubmit={submit} aria-label={analysis.title}>
      <div className="fields">
        <label className="field">
          Model
          {/* What is stored belongs to a model: another one has others. */}
          <select value={model} onChange={({ target }) => move({ model: target.value, params: {} })}>
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
            <select value={task ?? ""} onChange={({ target }) => move({ task: target.value })}>
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
      {chosen && <Proved model={chosen} />}
      {preset !== null && (
        <div className="preset-row">
          <Segmented
            label="Preset"
            options={Object.keys(analysis.presets).map((name) => ({ value: name, text: name }))}
            value={preset}
            onChange={(name) =>
              move({ preset: name, params: { ...place.params, ...texts(built(analysis, values)) } })
            }
          />
          {Object.keys(params).some((name) => !(name in analysis.references)) && (
            <button
              type="button"
              className="link-button"
              onClick={() => setValues({ ...base, ...built(analysis, values) })}
            >
              reset to the preset
            </button>
          )}
        </div>
      )}
      <SchemaForm groups={groups} values={values} complaints={wrong} onChange={setValues} picker={picker} />
      {chosen?.ready && task !== null && analysis.name !== "ability" && (
        <KnownAbility model={model} task={task} />
      )}
      <EstimateBox request={request} valid={valid} asked={chosen === undefined || chosen.ready} />
      {error && <ProblemNote error={error} />}
      <div className="card-actions">
        <button
          type="submit"
          className="button primary"
          disabled={busy || !valid || chosen?.ready === false || lostFor(analysis, chosen).length > 0}
        >
          Start
        </button>
      </div>
    </form>
  );
}

/** What is chosen of stored things: no preset knows it. */
function built(analysis: Analysis, values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name in analysis.references));
}

function texts(values: Values): Record<string, string> {
  const known = Object.entries(values).filter(([, value]) => value !== null);
  return Object.fromEntries(known.map(([name, value]) => [name, textOf(value)]));
}

/** An address may name tasks as the command line does, with commas between. */
function listed(texts: Record<string, string>, { references }: Analysis): Record<string, string> {
  const lines = ([name, text]: [string, string]) =>
    [name, references[name] === "tasks" ? text.replace(/ *, */g, "\n") : text] as const;
  return Object.fromEntries(Object.entries(texts).map(lines));
}

/** References that must be chosen and aren't yet. */
function missing(analysis: Analysis, fields: readonly Field[], values: Values): string[] {
  return fields
    .filter(({ name, optional, needed }) => {
      const value = values[name];
      const empty = !value || (Array.isArray(value) && value.length === 0 && needed);
      return name in analysis.references && (!optional || needed) && empty;
    })
    .map(({ name }) => name);
}
