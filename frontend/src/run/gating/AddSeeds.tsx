import { useEffect, useId, useState } from "react";
import { api } from "../../api/client";
import { type ApiError, asApiError } from "../../api/errors";
import type { Figure, Run } from "../../api/types";
import { plural } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { go } from "../../url/navigation";
import { DEFAULT_VIEW } from "../../url/view";

/** Seeds that a run may have. */
const MOST = 64;
/** The fewest seeds from which anything can be foreseen are three. */
const FROM_ONE = 2;

/** How many seeds more would help, and the button that fits them into a run of its own. */
export function AddSeeds({ run, figure }: { run: Run; figure: Figure | undefined }) {
  const { more_seeds: suggested, advice } = figure?.layout.meta ?? {};
  const room = MOST - run.seeds.length;
  const first = Math.min(room, suggested ?? FROM_ONE) || 1;
  const [text, setText] = useState(String(first));
  const [touched, setTouched] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const label = useId();
  useEffect(() => {
    if (!touched) setText(String(first));
  }, [first, touched]);
  const more = Number(text);
  const valid = Number.isInteger(more) && more >= 1 && more <= room;
  const add = async () => {
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
  return (
    <section className="card add-seeds" aria-label="More seeds">
      <h3>More seeds?</h3>
      <p className="muted small">{advice ?? "…"}</p>
      {room > 0 ? (
        <form
          className="card-actions"
          onSubmit={(event) => {
            event.preventDefault();
            if (valid) void add();
          }}
        >
          <label className="visually-hidden" htmlFor={label}>
            How many seeds to add
          </label>
          <input
            id={label}
            type="number"
            className="input"
            min={1}
            max={room}
            value={text}
            onChange={({ target }) => {
              setTouched(true);
              setText(target.value);
            }}
          />
          <button
            type="submit"
            className="button"
            disabled={busy || !valid}
            title="A new run that reuses these seeds and fits only the new ones"
          >
            {valid ? `Add ${plural(more, "seed")}` : `1 to ${room} seeds`}
          </button>
        </form>
      ) : (
        <p className="muted small">A run has at most {MOST} seeds, and this one has that many.</p>
      )}
      {error && <ProblemNote error={error} />}
    </section>
  );
}
