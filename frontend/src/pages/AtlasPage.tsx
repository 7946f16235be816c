import { useCallback, useEffect } from "react";
import { api } from "../api/client";
import { useRun } from "../api/live";
import { useResource } from "../api/resource";
import type { Model, Run, Task } from "../api/types";
import { ProblemNote } from "../parts/ProblemNote";
import { useDeclareSubject } from "../parts/subject";
import { go } from "../url/navigation";
import { DEFAULT_VIEW, type Place, type View } from "../url/view";
import { AtlasEmpty } from "./AtlasEmpty";
import { chosenPair, mapOf, type Pair } from "./atlas";
import { Maps } from "./Maps";
import { RunBody } from "./RunBody";
import { RunSkeleton } from "./RunSkeleton";

export function AtlasPage({ place }: { place: Extract<Place, { page: "atlas" }> }) {
  const models = useResource("models", (signal) => api.models(signal));
  const tasks = useResource("tasks", (signal) => api.tasks(signal));
  const runs = useResource("runs done", (signal) =>
    api.runs({ status: "done", analysis: "chg", limit: 500 }, signal),
  );
  const error = models.error ?? tasks.error ?? runs.error;
  if (models.data && tasks.data && runs.data) {
    const pair = chosenPair(place, models.data, tasks.data, runs.data.runs);
    return pair ? (
      <Atlas place={place} pair={pair} models={models.data} tasks={tasks.data} runs={runs.data.runs} />
    ) : (
      <div className="page narrow">
        <h1>Nothing to show yet</h1>
        <p className="muted">This Headscope knows no model: add one with `headscope models fetch`.</p>
      </div>
    );
  }
  const retry = () => [models, tasks, runs].forEach(({ reload }) => void reload());
  return <div className="page">{error ? <ProblemNote error={error} retry={retry} /> : <RunSkeleton />}</div>;
}

interface AtlasProps {
  place: Extract<Place, { page: "atlas" }>;
  pair: Pair;
  models: Model[];
  tasks: Task[];
  runs: Run[];
}

function Atlas({ place, pair, models, tasks, runs }: AtlasProps) {
  const { model, task } = pair;
  const listed = mapOf(pair, runs);
  const live = useRun(listed?.id ?? null);
  const run = live.data ?? listed;
  const { view } = place;
  const onView = useCallback(
    (next: View, options?: { replace?: boolean }) => go({ page: "atlas", model, task, view: next }, options),
    [model, task],
  );
  // Another map has other heads: the threshold and the mode go along, the selection doesn't.
  const pick = (next: Partial<Pair>) =>
    go({ page: "atlas", model, task, ...next, view: { ...view, head: null, passport: false } });
  useDeclareSubject(run, view, null, run ? `/runs/${run.id}` : "/");
  const modelTitle = models.find(({ name }) => name === model)?.title ?? model;
  const taskTitle = tasks.find(({ name }) => name === task)?.title ?? task;
  useEffect(() => {
    document.title = `${modelTitle} on ${taskTitle} · Headscope`;
  }, [modelTitle, taskTitle]);

  return (
    <div className="page">
      <h1 className="pickers">
        <Picker
          label="Model"
          value={model}
          options={models.map(({ name, title }) => ({
            name,
            title,
            has: runs.some((one) => one.model === name),
          }))}
          onPick={(name) => pick({ model: name })}
        />{" "}
        on{" "}
        <Picker
          label="Task"
          value={task}
          options={tasks.map(({ name, title }) => ({
            name,
            title,
            has: mapOf({ model, task: name }, runs) !== undefined,
          }))}
          onPick={(name) => pick({ task: name })}
        />
      </h1>
      {run ? (
        <RunBody key={run.id} run={run} view={view} onView={onView} share={null} onRun={live.set} />
      ) : (
        <AtlasEmpty model={models.find(({ name }) => name === model)} pair={pair} />
      )}
      <Maps
        runs={runs}
        models={models}
        current={pair}
        view={{ ...DEFAULT_VIEW, threshold: view.threshold, mode: view.mode }}
      />
    </div>
  );
}

interface PickerProps {
  label: string;
  value: string;
  options: { name: string; title: string; has: boolean }[];
  onPick: (name: string) => void;
}

/** A word of the title that is a choice. */
function Picker({ label, value, options, onPick }: PickerProps) {
  const known = options.some(({ name }) => name === value);
  const group = (has: boolean) => options.filter((option) => option.has === has);
  const list = (some: typeof options) =>
    some.map(({ name, title }) => (
      <option key={name} value={name}>
        {title}
      </option>
    ));
  return (
    <span className="picker">
      <select aria-label={label} value={value} onChange={(event) => onPick(event.target.value)}>
        {!known && <option value={value}>{value}</option>}
        <optgroup label="With a map">{list(group(true))}</optgroup>
        {group(false).length > 0 && <optgroup label="Not computed yet">{list(group(false))}</optgroup>}
      </select>
    </span>
  );
}
