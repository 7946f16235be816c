import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import { queries } from "../api/queries";
import type { Task } from "../api/types";
import { withContents } from "../api/upload";
import { plural } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { go, Link } from "../url/navigation";
import "./tasks.css";

export default function TasksPage() {
  const tasks = useQuery(queries.tasks());
  const [adding, setAdding] = useState(false);
  const group = (origin: Task["origin"]) => tasks.data?.filter((task) => task.origin === origin) ?? [];
  return (
    <div className="page">
      <div className="section-head">
        <h1>Tasks</h1>
        <button
          type="button"
          className="button primary"
          aria-expanded={adding}
          onClick={() => setAdding(!adding)}
        >
          Add your own
        </button>
      </div>
      <p className="facts">What a model is asked to do: prompts with the tokens it should answer.</p>
      {adding && <UploadForm onClose={() => setAdding(false)} />}
      {tasks.error && <ProblemNote error={tasks.error} retry={tasks.refetch} />}
      {tasks.isLoading && (
        <div className="skeleton list-skeleton" role="status" aria-label="Loading the tasks" />
      )}
      {group("yours").length > 0 && <TaskList title="Yours" tasks={group("yours")} />}
      {group("built-in").length > 0 && <TaskList title="Built in" tasks={group("built-in")} />}
    </div>
  );
}

function TaskList({ title, tasks }: { title: string; tasks: Task[] }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul className="tile-list">
        {tasks.map((task) => (
          <li key={task.name}>
            <Link className="card tile" to={{ page: "task", name: task.name, model: null, split: "train" }}>
              <strong>{task.title}</strong>
              <span className="muted">{task.description}</span>
              <span className="muted small">
                {task.n_rows === null ? "generated" : plural(task.n_rows, "row")} · {task.licence}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A name for the address from a file's: small letters, digits and dashes. */
export function nameOf(filename: string): string {
  return filename
    .replace(/\.[^.]*$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
}

function UploadForm({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    // What was left empty isn't sent: the server's own defaults hold.
    for (const [field, value] of [...form.entries()]) if (value === "") form.delete(field);
    setBusy(true);
    setError(undefined);
    try {
      const task = await api.addTask(await withContents(form));
      go({ page: "task", name: task.name, model: null, split: "train" });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <form className="card form-card" onSubmit={submit} aria-label="Add a task">
      <p className="muted">
        A JSONL or CSV file with the columns <code>prompt</code> and <code>target</code>, and{" "}
        <code>counterfactual</code> where there is one.
      </p>
      <div className="fields">
        <label className="field">
          File
          <input
            type="file"
            name="file"
            required
            accept=".jsonl,.csv,.tsv,.ndjson,text/csv,application/jsonl"
            onChange={(event) => {
              const file = event.target.files?.[0];
              if (file) setName((now) => now || nameOf(file.name));
            }}
          />
        </label>
        <label className="field">
          Name
          <input
            name="name"
            required
            maxLength={64}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label className="field">
          Title
          <input name="title" maxLength={200} placeholder="same as the name" />
        </label>
        <label className="field">
          In-context examples
          <input name="shots" inputMode="numeric" pattern="[0-9]{1,2}" placeholder="default" />
        </label>
        <label className="field wide">
          Description
          <input name="description" maxLength={2000} />
        </label>
        <label className="field wide">
          Template
          <textarea name="template" rows={2} className="mono" placeholder={"Q: {prompt}\nA: {target}"} />
        </label>
        <label className="field wide">
          Instruction, for a second form without examples
          <textarea name="instruction" rows={2} placeholder="Give the plural of the word." />
        </label>
      </div>
      {error && <ProblemNote error={error} />}
      <div className="card-actions">
        <button type="submit" className="button primary" disabled={busy}>
          {busy ? "Reading the file…" : "Add"}
        </button>
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </form>
  );
}
