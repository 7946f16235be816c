import { useState } from "react";
import { type ApiError, asApiError } from "../api/errors";
import { labApi } from "../api/lab";
import { forget } from "../api/resource";
import type { Run } from "../api/types";
import { plural } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { DEFAULT_LAB } from "../url/lab";
import { go } from "../url/navigation";

/** The heads that a sufficiency run found, one click from the mixing board: kept as gates on the way. */
export function SubsetGates({ run }: { run: Run }) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const enough = run.headline?.sufficient_heads;
  // No number of heads suffices: the figures say so already.
  if (typeof enough !== "number") return null;
  const take = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { id } = await labApi.keepGatesOfRun(run.id);
      forget("gate vectors");
      go({ page: "lab", ...DEFAULT_LAB, model: run.model, gates: id });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <section className="card" aria-label="These heads as gates">
      <h3>These heads as gates</h3>
      <p className="muted small">
        {plural(enough, "head")} open, all others shut. They are kept under the task’s name, for runs and for
        Python too.
      </p>
      {error && <ProblemNote error={error} />}
      <button type="button" className="button" disabled={busy} onClick={() => void take()}>
        Take them to the mixing board
      </button>
    </section>
  );
}
