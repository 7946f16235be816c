// A parameter that names something stored is picked from what there is, never typed.
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useState } from "react";
import { labQueries } from "../api/lab";
import { queries } from "../api/queries";
import type { Analysis, Run, Task } from "../api/types";
import type { PickerInput } from "../form/SchemaForm";
import { moment, plural } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { analysisTitle } from "../results/RunTitle";
import { DEFAULT_LAB } from "../url/lab";
import { Link } from "../url/navigation";
import { NEW_RUN } from "../url/view";

export interface ReferenceProps extends PickerInput {
  model: string;
  task: string | null;
  /** Take a run's task along with the run. */
  onTask: (task: string) => void;
}

interface Option {
  value: string;
  text: string;
}

interface StoredSelectProps extends PickerInput {
  groups: { label: string; options: Option[] }[];
  onPick?: (value: string) => void;
}

function StoredSelect({ field, value, onChange, shared, groups, onPick }: StoredSelectProps) {
  const chosen = typeof value === "string" ? value : "";
  const filled = groups.filter(({ options }) => options.length > 0);
  const known = filled.some(({ options }) => options.some((option) => option.value === chosen));
  return (
    <select
      {...shared}
      value={chosen}
      onChange={({ target }) => {
        onChange(target.value === "" && field.optional ? null : target.value);
        onPick?.(target.value);
      }}
    >
      {(field.optional || chosen === "") && (
        <option value="">{field.optional && !field.needed ? "none" : "choose one"}</option>
      )}
      {chosen !== "" && !known && <option value={chosen}>{chosen}</option>}
      {filled.map(({ label, options }) => (
        <optgroup key={label} label={label}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}

function runText(run: Run): string {
  const parts = [
    run.task_title ?? run.task ?? analysisTitle(run),
    run.seeds.length > 1 && plural(run.seeds.length, "seed"),
    run.preset,
    run.origin === "gallery" ? "shipped" : moment(run.finished_at),
  ];
  return parts.filter(Boolean).join(" · ");
}

interface RunPickerProps extends ReferenceProps {
  analysis: Analysis;
  /** It must be on the chosen task, too: a run on another one takes its task along. */
  sameTask: boolean;
}

/** Finished runs of the model, those on the chosen task first: the first of those is taken where one is needed. */
export function RunPicker({ analysis, sameTask, ...props }: RunPickerProps) {
  const { model, task, onTask, onChange } = props;
  const runs = useQuery(queries.runs({ model, analysis: analysis.name, status: "done", limit: 200 }));
  const first = task === null ? undefined : runs.data?.runs.find((run) => run.task === task)?.id;
  const needed = !props.field.optional || props.field.needed;
  useEffect(() => {
    if (needed && !props.value && first !== undefined) onChange(first);
  }, [needed, props.value, first, onChange]);
  if (runs.error) return <ProblemNote error={runs.error} retry={runs.refetch} />;
  if (!runs.data)
    return <div className="skeleton field-skeleton" role="status" aria-label="Loading the runs" />;
  const list = runs.data.runs;
  if (list.length === 0) {
    return (
      <p className="muted">
        There is no finished run of it for this model yet:{" "}
        <Link to={{ page: "new", ...NEW_RUN, analysis: analysis.name, model, task, preset: "quick" }}>
          compute “{analysis.title}” first
        </Link>
        .
      </p>
    );
  }
  const group = (label: string, some: Run[]) => ({
    label,
    options: some.map((run) => ({ value: run.id, text: runText(run) })),
  });
  const here = list.filter((run) => run.task === task);
  return (
    <StoredSelect
      {...props}
      groups={
        task === null
          ? [group(analysis.title, list)]
          : [
              group("On this task", here),
              group(
                "On other tasks",
                list.filter((run) => run.task !== task),
              ),
            ]
      }
      onPick={(id) => {
        const run = list.find((one) => one.id === id);
        if (sameTask && run?.task && task !== null && run.task !== task) onTask(run.task);
      }}
    />
  );
}

export function PromptsPicker(props: ReferenceProps) {
  const prompts = useQuery(labQueries.prompts());
  if (prompts.error) return <ProblemNote error={prompts.error} retry={prompts.refetch} />;
  if (!prompts.data)
    return <div className="skeleton field-skeleton" role="status" aria-label="Loading the prompts" />;
  if (prompts.data.length === 0) {
    return (
      <p className="muted">
        No prompts are saved yet:{" "}
        <Link to={{ page: "lab", ...DEFAULT_LAB, model: props.model }}>add some in the prompt lab</Link>.
      </p>
    );
  }
  const of = (kind: "batch" | "text") =>
    prompts.data
      ?.filter((prompt) => prompt.kind === kind)
      .map(({ id, name, beginning, n }) => ({
        value: id,
        text: `${name || `“${beginning}”`}${kind === "batch" ? ` · ${plural(n, "prompt")}` : ""}`,
      })) ?? [];
  return (
    <StoredSelect
      {...props}
      groups={[
        { label: "Batches", options: of("batch") },
        { label: "Single prompts", options: of("text") },
      ]}
    />
  );
}

export function GatesPicker(props: ReferenceProps) {
  const { model } = props;
  const vectors = useQuery(labQueries.gateVectors(model));
  if (vectors.error) return <ProblemNote error={vectors.error} retry={vectors.refetch} />;
  if (!vectors.data)
    return <div className="skeleton field-skeleton" role="status" aria-label="Loading the gates" />;
  if (vectors.data.length === 0 && (!props.field.optional || props.field.needed)) {
    return (
      <p className="muted">
        No gates of this model are saved yet:{" "}
        <Link to={{ page: "lab", ...DEFAULT_LAB, model }}>save some on the mixing board</Link>, by hand or
        from a finished run.
      </p>
    );
  }
  const options = vectors.data.map(({ id, name, closed }) => ({
    value: id,
    text: `${name} · ${plural(closed, "head")} shut`,
  }));
  return <StoredSelect {...props} groups={[{ label: "Saved gates", options }]} />;
}

type TaskProps = PickerInput & { tasks: Task[] };

export function TaskPicker({ tasks, ...props }: TaskProps) {
  const options = tasks.map(({ name, title }) => ({ value: name, text: title }));
  return <StoredSelect {...props} groups={[{ label: "Tasks", options }]} />;
}

/** Some tasks, ticked; those ticked stand in the order of the list. */
export function TasksPicker({ tasks, field, value, onChange, shared }: TaskProps) {
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const unknown = chosen.filter((name) => tasks.every((task) => task.name !== name));
  const all = [...tasks, ...unknown.map((name) => ({ name, title: name }))];
  const ticked = all.filter(({ name }) => chosen.includes(name));
  // One stop of the Tab key for the whole list; arrows move in it.
  const [visited, setVisited] = useState<string | null>(null);
  const stop = visited ?? ticked[0]?.name ?? all[0]?.name;
  const move = (event: KeyboardEvent<HTMLFieldSetElement>) => {
    const boxes = [...event.currentTarget.querySelectorAll("input")];
    const at = boxes.indexOf(event.target as HTMLInputElement);
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: boxes.length - 1,
    };
    const to = boxes[steps[event.key] ?? -1];
    if (!to) return;
    event.preventDefault();
    to.focus();
  };
  return (
    <>
      <fieldset className="ticks" aria-label={field.title} onKeyDown={move} {...shared}>
        {all.map(({ name, title }) => (
          <label key={name}>
            <input
              type="checkbox"
              tabIndex={name === stop ? 0 : -1}
              onFocus={() => setVisited(name)}
              checked={chosen.includes(name)}
              onChange={({ target }) =>
                onChange(
                  all
                    .map((task) => task.name)
                    .filter((one) => (one === name ? target.checked : chosen.includes(one))),
                )
              }
            />
            {title}
          </label>
        ))}
      </fieldset>
      {/* The list scrolls: what is ticked further down would not be seen. */}
      {ticked.length > 0 && <p className="small">{ticked.map(({ title }) => title).join(" · ")}</p>}
    </>
  );
}
