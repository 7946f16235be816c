import { useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { labApi } from "../../api/lab";
import { forget } from "../../api/resource";
import type { Run } from "../../api/types";
import { plural } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { namedTasks } from "../../results/RunTitle";
import { DEFAULT_LAB } from "../../url/lab";
import { go } from "../../url/navigation";

/** What a run offers to the mixing board: which of its gates, by what button, and what they are. */
function offered(
  run: Run,
): { title: string; words: string; gates: { preset?: string; text: string }[] } | null {
  const take = "Open on the mixing board";
  if (run.analysis === "sufficiency") {
    const enough = run.headline?.sufficient_heads;
    // No number of heads suffices: the figures say so already.
    if (typeof enough !== "number") return null;
    const words = `${plural(enough, "head")} open, all others muted.`;
    return { title: "These heads as gates", words, gates: [{ text: take }] };
  }
  if (run.analysis === "cchg") {
    const { retain, forget, push } = run.params;
    const both = push === "both";
    const exchanged = namedTasks({ ...run, params: { retain: forget, forget: retain } });
    const of = (way: string, text: string) =>
      (both ? ["open", "shut"] : [push === "shut" ? "shut" : "open"]).map((pushed) => ({
        preset: `${way}-${pushed}`,
        text: both ? `${text}, pushed ${pushed}` : text,
      }));
    return {
      title: "To the mixing board",
      words: "Mean gates over the seeds: an open head is needed for what is retained.",
      gates: [...of("named", namedTasks(run) ?? take), ...of("exchanged", exchanged ?? "the exchanged sets")],
    };
  }
  return null;
}

/** Gates that a run found, one click from the mixing board: kept on the way. */
export function SubsetGates({ run }: { run: Run }) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const offer = offered(run);
  if (!offer) return null;
  const take = async (preset: string | undefined) => {
    setBusy(true);
    setError(undefined);
    try {
      const { id } = await labApi.keepGatesOfRun(run.id, preset);
      forget("gate vectors");
      go({ page: "lab", ...DEFAULT_LAB, model: run.model, gates: id });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <section className="card offered-gates" aria-label={offer.title}>
      <h3>{offer.title}</h3>
      <p className="muted small">{offer.words} They are saved, for runs and Python too.</p>
      {error && <ProblemNote error={error} />}
      <div className="card-actions">
        {offer.gates.map(({ preset, text }) => (
          <button
            key={text}
            type="button"
            className="button"
            disabled={busy}
            onClick={() => void take(preset)}
          >
            {text}
          </button>
        ))}
      </div>
    </section>
  );
}
