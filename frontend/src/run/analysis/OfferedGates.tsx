import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { labApi, labQueries } from "../../api/lab";
import type { Run } from "../../api/types";
import { ProblemNote } from "../../parts/ProblemNote";
import { useAnalysis } from "../../results/analyses";
import { DEFAULT_LAB } from "../../url/lab";
import { go } from "../../url/navigation";

/** The gates that a run offers to the mixing board, one click from it: saved on the way. */
export function OfferedGates({ run }: { run: Run }) {
  const client = useQueryClient();
  const offers = useAnalysis(run.analysis)?.offers_gates === true;
  // A run whose result holds no gates says so in its figures already.
  const { data: presets = [] } = useQuery({ ...labQueries.gatePresets(run), enabled: offers });
  const [chosen, setChosen] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const preset = presets.find(({ name }) => name === chosen) ?? presets[0];
  if (!preset) return null;
  const take = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { id } = await labApi.keepGatesOfRun(run.id, preset.name);
      void client.invalidateQueries({ queryKey: labQueries.gateVectors(run.model).queryKey });
      go({ page: "lab", ...DEFAULT_LAB, model: run.model, gates: id });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <section className="card offered-gates" aria-label="Gates for the mixing board">
      <h3>{presets.length === 1 ? `${preset.title} as gates` : "To the mixing board"}</h3>
      {presets.length > 1 && (
        <select
          aria-label="Which gates"
          value={preset.name}
          onChange={({ target }) => setChosen(target.value)}
        >
          {presets.map(({ name, title, reading }) => (
            <option key={name} value={name}>
              {`${title} · ${reading}`}
            </option>
          ))}
        </select>
      )}
      <p className="muted small">{preset.reading} They are saved, for runs and Python too.</p>
      {error && <ProblemNote error={error} />}
      <div className="card-actions">
        <button type="button" className="button" disabled={busy} onClick={() => void take()}>
          Open on the mixing board
        </button>
      </div>
    </section>
  );
}
