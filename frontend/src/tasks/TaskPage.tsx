import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import { queries } from "../api/queries";
import type { Task, TaskAccuracy, TaskExamples } from "../api/types";
import { count, measured, percent, plural } from "../format/numbers";
import { Confirm } from "../parts/Dialog";
import { NotFoundPage } from "../parts/NotFoundPage";
import { ProblemNote } from "../parts/ProblemNote";
import { Segmented } from "../parts/Segmented";
import { KnownAbility } from "../results/KnownAbility";
import { TokenText } from "../tokens/TokenText";
import { go, Link } from "../url/navigation";
import { DEFAULT_VIEW, NEW_RUN, type Place } from "../url/view";
import "./tasks.css";

type TaskPlace = Extract<Place, { page: "task" }>;

export default function TaskPage({ place }: { place: TaskPlace }) {
  const task = useQuery(queries.task(place.name));
  const models = useQuery(queries.models());
  const title = task.data?.title;
  useEffect(() => {
    if (title) document.title = `${title} · Headscope`;
  }, [title]);
  if (task.error?.status === 404)
    return <NotFoundPage what={task.error.problem.detail} remedy={task.error.problem.remedy} />;
  const model =
    place.model ?? models.data?.filter(({ ready }) => ready).at(-1)?.name ?? models.data?.[0]?.name ?? null;
  return (
    <div className="page">
      {task.error && <ProblemNote error={task.error} retry={task.refetch} />}
      {task.isLoading && <div className="skeleton title" />}
      {task.data && (
        <>
          <TaskHead task={task.data} model={model} />
          <div className="filters">
            <label className="filter">
              <span className="visually-hidden">Model</span>
              <select
                value={model ?? ""}
                onChange={(event) => go({ ...place, model: event.target.value }, { replace: true })}
              >
                {models.data?.map(({ name, title: text, ready }) => (
                  <option key={name} value={name}>
                    {text}
                    {ready ? "" : " (not here yet)"}
                  </option>
                ))}
              </select>
            </label>
            <Segmented
              label="Split"
              options={[
                { value: "train", text: "Training" },
                { value: "test", text: "Held out" },
              ]}
              value={place.split}
              onChange={(split) => go({ ...place, model, split }, { replace: true })}
            />
          </div>
          {model && <Accuracy task={place.name} model={model} />}
          {model && <KnownAbility task={place.name} model={model} />}
          {model && <Examples task={place.name} model={model} split={place.split} />}
        </>
      )}
    </div>
  );
}

function TaskHead({ task, model }: { task: Task; model: string | null }) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<ApiError>();
  const remove = async () => {
    setAsking(false);
    try {
      await api.deleteTask(task.name);
      go({ page: "tasks" }, { replace: true });
      client.removeQueries({ queryKey: queries.task(task.name).queryKey });
      await client.invalidateQueries({ queryKey: queries.tasks().queryKey });
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };
  return (
    <>
      <div className="section-head">
        <h1>{task.title}</h1>
        <div className="card-actions">
          <Link className="button" to={{ page: "atlas", model, task: task.name, view: DEFAULT_VIEW }}>
            Its map
          </Link>
          <Link className="button primary" to={{ page: "new", ...NEW_RUN, model, task: task.name }}>
            New run
          </Link>
          {task.origin === "yours" && !task.form_of && (
            <button type="button" className="button" onClick={() => setAsking(true)}>
              Delete
            </button>
          )}
        </div>
      </div>
      <p className="facts">
        {task.description} <SourceText source={task.source} licence={task.licence} />
      </p>
      {task.unused && (
        <p className="facts" role="status">
          {task.unused}
        </p>
      )}
      <dl className="task-facts">
        <Fact label="Rows" value={task.n_rows === null ? "generated on demand" : count(task.n_rows)} />
        <Fact label="In-context examples" value={count(task.shots)} />
        <Fact label="Scored tokens" value={task.targets} />
        <Fact label="Correct means" value={JUDGED[task.judged]} />
        {(task.form_of || task.instruction) && (
          <div>
            <dt>Other form</dt>
            <dd>
              <Link
                to={{
                  page: "task",
                  name: task.form_of || `${task.name}-instruction`,
                  model,
                  split: "train",
                }}
              >
                {task.form_of ? "by examples in context" : "by instruction"}
              </Link>
            </dd>
          </div>
        )}
        {task.template && (
          <div>
            <dt>Template</dt>
            <dd>
              <code className="template">{task.template}</code>
            </dd>
          </div>
        )}
      </dl>
      {error && <ProblemNote error={error} />}
      {asking && (
        <Confirm
          title="Delete this task?"
          action="Delete"
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        >
          <p>{task.title}: its rows are deleted. Finished runs on it stay.</p>
        </Confirm>
      )}
    </>
  );
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function SourceText({ source, licence }: { source: string; licence: string }) {
  return (
    <span>
      Source:{" "}
      {/^https?:\/\//.test(source) ? (
        <a href={source} rel="noreferrer noopener">
          {source.replace(/^https?:\/\//, "")}
        </a>
      ) : (
        source
      )}{" "}
      ({licence}).
    </span>
  );
}

const JUDGED: Record<Task["judged"], string> = {
  top: "every target token the most likely one",
  each: "the share of target tokens that are the most likely ones",
  pair: "the target likelier than the counterfactual",
};

const VERDICT: Record<NonNullable<TaskAccuracy["verdict"]>, string> = {
  can: "can do this task",
  weak: "is weak on this task",
  cannot: "can’t do this task",
  "too-few": "has too few held-out examples here to tell whether it can do this task",
};

function Accuracy({ task, model }: { task: string; model: string }) {
  const accuracy = useQuery({
    ...queries.accuracy(task, model),
    refetchInterval: ({ state }) => state.data?.status === "computing" && 2000,
  });
  const { data, error } = accuracy;
  if (error) return <ProblemNote error={error} retry={accuracy.refetch} />;
  const computing = data === undefined || data.status === "computing";
  return (
    <section
      className={`card accuracy verdict-${data?.verdict ?? "open"}`}
      aria-label="The model without gates"
      aria-live="polite"
    >
      {data?.status === "done" ? (
        <>
          <p>
            <strong>{data.verdict ? `${model} ${VERDICT[data.verdict]}` : `${model} without gates`}</strong>
            {data.verdict === "cannot" && ": gates fitted on it say little about how the task is done."}
          </p>
          <dl className="progress-facts">
            <Fact label="Held-out accuracy" value={percent(data.accuracy)} />
            <Fact label="Chance" value={percent(data.chance)} />
            <Fact label="Log-probability" value={`${measured(data.log_probability)} nats per token`} />
            <Fact label="Examples" value={count(data.n)} />
          </dl>
        </>
      ) : (
        <p>{computing ? "Measuring how the model does without gates…" : "Not measured."}</p>
      )}
      {data?.detail && <p className="muted small">{data.detail}</p>}
    </section>
  );
}

function Examples({ task, model, split }: { task: string; model: string; split: "train" | "test" }) {
  const [limit, setLimit] = useState(5);
  const examples = useQuery(queries.examples(task, { model, split, limit }));
  if (examples.error) return <ProblemNote error={examples.error} retry={examples.refetch} />;
  if (!examples.data)
    return <div className="skeleton list-skeleton" role="status" aria-label="Loading examples" />;
  const { data } = examples;
  return (
    <section aria-label="Examples">
      <div className="section-head">
        <h2>Examples as the model reads them</h2>
        <span className="muted small">
          {plural(data.n_train, "training example")} · {count(data.n_test)} held out
          {data.n_left_out > 0 && ` · ${count(data.n_left_out)} too long for the context, left out`}
        </span>
      </div>
      <p className="caption">
        <span className="token target">marked</span> tokens are the target: only they are scored.{" "}
        <span className="token-mark">·</span> is a space, <span className="token-mark">↵</span> a line break,{" "}
        <span className="token-mark">⇥</span> a tab, <span className="token-code">E2 80</span> bytes that
        aren’t a character on their own.
      </p>
      <ExampleList data={data} />
      {data.examples.length === limit && limit < 50 && (
        <button type="button" className="button" onClick={() => setLimit(Math.min(50, limit * 3))}>
          More examples
        </button>
      )}
    </section>
  );
}

function ExampleList({ data }: { data: TaskExamples }) {
  if (data.examples.length === 0) return <p className="muted">This split has no examples.</p>;
  return (
    <ol className="examples">
      {data.examples.map((example, i) => (
        <li key={i} className="card">
          <TokenText tokens={example.tokens} targets={example.targets} />
          {example.counterfactual && (
            <div className="counterfactual">
              <span className="muted small">counterfactual</span>
              <TokenText tokens={example.counterfactual} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}
