import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import { queries } from "../api/queries";
import { percent, plural } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { go, Link } from "../url/navigation";
import { DEFAULT_VIEW } from "../url/view";

/** Whether the model can do the task, from the newest finished run of ability, or a button that measures it. */
export function KnownAbility({ model, task }: { model: string; task: string }) {
  const runs = useQuery(queries.runs({ analysis: "ability", model, task, limit: 1 }));
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const run = runs.data?.runs[0];
  const view = { page: "run", id: run?.id ?? "", view: DEFAULT_VIEW } as const;
  const measure = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const started = await api.startRun({ analysis: "ability", model, task, preset: null, params: {} });
      go({ page: "run", id: started.id, view: DEFAULT_VIEW });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  // Nothing waits for it: without an answer the page is as it is.
  if (!runs.data) return null;
  const { accuracy, chance, auto_shots: shots, verdict } = run?.headline ?? {};
  if (run && typeof accuracy === "number" && typeof shots === "number") {
    return (
      <p className="facts" role="note" aria-label="Ability">
        {verdict === "too few to tell" ? "The held-out rows are" : "The model"}{" "}
        <Link to={view}>{String(verdict)}</Link>: with {plural(shots, "in-context example")} it answers{" "}
        <b>{percent(accuracy)}</b> right
        {typeof chance === "number" && ` (chance ${percent(chance)})`}. <code>shots=auto</code> takes {shots}.
      </p>
    );
  }
  return (
    <div className="facts" role="note" aria-label="Ability">
      {run ? (
        <Link to={view}>Whether the model can do the task is being measured.</Link>
      ) : (
        <>
          Whether the model can do this task isn’t known yet.{" "}
          <button type="button" className="link-button" disabled={busy} onClick={() => void measure()}>
            Measure it
          </button>
        </>
      )}
      {error && <ProblemNote error={error} />}
    </div>
  );
}
