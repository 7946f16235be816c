import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { labApi, labQueries } from "../../api/lab";
import type { Run } from "../../api/types";
import { ProblemNote } from "../../parts/ProblemNote";
import { useAnalysis } from "../../results/analyses";
import { DEFAULT_LAB } from "../../url/lab";
import { go } from "../../url/navigation";

/** The gates that a run offers to the mixing board, one click from it: kept on the way. */
export function SubsetGates({ run }: { run: Run }) {
  const client = useQueryClient();
  const offers = useAnalysis(run.analysis)?.offers_gates === true;
  // A run whose result holds no gates says so in its figures already.
  const { data: presets = [] } = useQuery({ ...labQueries.gatePresets(run), enabled: offers });
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  if (presets.length === 0) return null;
  const take = async (preset: string) => {
    setBusy(true);
    setError(undefined);
    try {
      const { id } = await labApi.keepGatesOfRun(run.id, preset);
      void client.invalidateQueries({ queryKey: labQueries.gateVectors(run.model).queryKey });
      go({ page: "lab", ...DEFAULT_LAB, model: run.model, gates: id });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <section className="card offered-gates" aria-labelledby="offered-gates">
      <h3 id="offered-gates">To the mixing board</h3>
      <p className="muted small">These gates are kept on the way, for runs and for Python too.</p>
      {error && <ProblemNote error={error} />}
      <div className="card-actions">
        {presets.map(({ name, title, reading }) => (
          <button
            key={name}
            type="button"
            className="button"
            title={reading}
            disabled={busy}
            onClick={() => void take(name)}
          >
            {title}
          </button>
        ))}
      </div>
    </section>
  );
}
