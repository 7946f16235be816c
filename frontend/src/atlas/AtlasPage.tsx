import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { useRun } from "../api/live";
import { queries } from "../api/queries";
import type { Model, Run, Task } from "../api/types";
import { ProblemNote } from "../parts/ProblemNote";
import { useDeclareSubject } from "../parts/subject";
import { usePlotly } from "../plot/plotly";
import { mapOf, mappedRuns, type Pair } from "../results/maps";
import { RunSkeleton } from "../results/RunSkeleton";
import { RunBody } from "../run/RunBody";
import { go } from "../url/navigation";
import { DEFAULT_VIEW, type Place, type View } from "../url/view";
import { AtlasEmpty } from "./AtlasEmpty";
import { anyPair, chosenPair } from "./chosenPair";
import { Maps } from "./Maps";
import "./atlas.css";

export default function AtlasPage({ place }: { place: Extract<Place, { page: "atlas" }> }) {
  usePlotly();
  const models = useQuery(queries.models());
  const tasks = useQuery(queries.tasks());
  const runs = useQuery(mappedRuns());
  const error = models.error ?? tasks.error ?? runs.error;
  // The map needs the runs alone; the names of models and tasks fill in when they come.
  const named = runs.data && chosenPair(place, runs.data.runs);
  if (runs.data && (named || (models.data && tasks.data))) {
    const [known, asked] = [models.data ?? [], tasks.data ?? []];
    const pair = named ?? anyPair(place, known, asked);
    return pair ? (
      <Atlas
        place={place}
        pair={pair}
        models={known}
        tasks={asked}
        runs={runs.data.runs}
        settled={models.data !== undefined}
      />
    ) : (
      <div className="page narrow">
        <h1>Nothing to show yet</h1>
        <p className="muted">There are no models here yet: add one with `headscope models fetch`.</p>
      </div>
    );
  }
  const retry = () => [models, tasks, runs].forEach(({ refetch }) => void refetch());
  return <div className="page">{error ? <ProblemNote error={error} retry={retry} /> : <RunSkeleton />}</div>;
}

interface AtlasProps {
  place: Extract<Place, { page: "atlas" }>;
  pair: Pair;
  models: Model[];
  tasks: Task[];
  runs: Run[];
  /** The models are known: what isn't among them doesn't exist. */
  settled: boolean;
}

function Atlas({ place, pair, models, tasks, runs, settled }: AtlasProps) {
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
  const taskTitle = tasks.find(({ name }) => name === task)?.title ?? run?.task_title ?? task;
  useEffect(() => {
    document.title = `${modelTitle} on ${taskTitle} · Headscope`;
  }, [modelTitle, taskTitle]);

  return (
    <div className="page">
      <h1 className="pickers">
        <Picker
          label="Model"
          value={model}
          title={modelTitle}
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
          title={taskTitle}
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
      ) : settled ? (
        <AtlasEmpty model={models.find(({ name }) => name === model)} pair={pair} />
      ) : (
        <div className="skeleton grid-skeleton" role="status" aria-label="Loading" />
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
  title: string;
  options: { name: string; title: string; has: boolean }[];
  onPick: (name: string) => void;
}

/** A word of the title that is a choice. */
function Picker({ label, value, title, options, onPick }: PickerProps) {
  const known = options.some(({ name }) => name === value);
  const group = (has: boolean) => options.filter((option) => option.has === has);
  const list = (some: typeof options) =>
    some.map((option) => (
      <option key={option.name} value={option.name}>
        {option.title}
      </option>
    ));
  return (
    <span className="picker">
      <select aria-label={label} value={value} onChange={(event) => onPick(event.target.value)}>
        {!known && <option value={value}>{title}</option>}
        <optgroup label="With a map">{list(group(true))}</optgroup>
        {group(false).length > 0 && <optgroup label="Not computed yet">{list(group(false))}</optgroup>}
      </select>
    </span>
  );
}
