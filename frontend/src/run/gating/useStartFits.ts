import { useState } from "react";
import { api } from "../../api/client";
import { type ApiError, asApiError } from "../../api/errors";
import type { Run } from "../../api/types";
import { go } from "../../url/navigation";
import { DEFAULT_VIEW } from "../../url/view";

/** Seeds that a run may have. */
export const MOST_SEEDS = 64;

/** Starts a run with this one's settings but for a change, and goes to its page. */
export function useStartFits(run: Run) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const start = async (change: Record<string, unknown>) => {
    setBusy(true);
    setError(undefined);
    try {
      const next = await api.startRun({
        analysis: run.analysis,
        model: run.model,
        task: run.task,
        preset: run.preset,
        params: { ...run.params, adds_to: null, ...change },
      });
      go({ page: "run", id: next.id, view: DEFAULT_VIEW });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return { start, busy, error };
}
