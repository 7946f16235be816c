import { useState } from "react";
import { api } from "../../api/client";
import { type ApiError, asApiError } from "../../api/errors";
import type { Run } from "../../api/types";
import { go } from "../../url/navigation";
import { DEFAULT_VIEW } from "../../url/view";

/** Seeds that a run may have. */
export const MOST_SEEDS = 64;

/** Starts a run that takes over this one's seeds and fits so many more, and goes to its page. */
export function useAddFits(run: Run) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const add = async (more: number) => {
    setBusy(true);
    setError(undefined);
    try {
      const next = await api.startRun({
        analysis: run.analysis,
        model: run.model,
        task: run.task,
        preset: run.preset,
        params: { ...run.params, adds_to: run.id, seeds: run.seeds.length + more },
      });
      go({ page: "run", id: next.id, view: DEFAULT_VIEW });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return { add, busy, error };
}
