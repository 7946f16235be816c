import { useState } from "react";
import { api } from "../../api/client";
import { type ApiError, asApiError } from "../../api/errors";
import type { PromptRows } from "../../api/labTypes";
import { count } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { go } from "../../url/navigation";
import { DEFAULT_VIEW } from "../../url/view";
import { useLab } from "../state/useLab";

/** An open batch: page through its prompts, or score every head on all of them. */
export function BatchBar({ batch }: { batch: PromptRows }) {
  const { view, move, readOnly } = useLab();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const turn = (row: number) =>
    move({ row: Math.min(batch.n - 1, Math.max(0, row)), locked: [], at: null, answers: [] });
  const score = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const run = await api.startRun({
        analysis: "battery",
        model: view.model ?? "",
        task: null,
        params: { prompts: batch.id },
      });
      go({ page: "run", id: run.id, view: DEFAULT_VIEW });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <div className="batch-bar">
      <div className="source-row">
        <button type="button" className="button" disabled={view.row <= 0} onClick={() => turn(view.row - 1)}>
          ← Previous
        </button>
        <label className="batch-place">
          Prompt{" "}
          <input
            type="number"
            min={1}
            max={batch.n}
            value={view.row + 1}
            onChange={(event) => event.target.value && turn(event.target.valueAsNumber - 1)}
          />{" "}
          of {count(batch.n)}
        </label>
        <button
          type="button"
          className="button"
          disabled={view.row >= batch.n - 1}
          onClick={() => turn(view.row + 1)}
        >
          Next →
        </button>
        {!readOnly && (
          <button type="button" className="button" disabled={busy} onClick={() => void score()}>
            Score the whole batch
          </button>
        )}
        <span className="muted small">{batch.name}</span>
      </div>
      {error && <ProblemNote error={error} />}
    </div>
  );
}
