import { useEffect, useId, useState } from "react";
import type { Figure, Run } from "../../api/types";
import { plural } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { MOST_SEEDS, useAddFits } from "./useAddFits";

/** The fewest seeds from which anything can be foreseen are three. */
const FROM_ONE = 2;

/** How many seeds more would help, and the button that fits them into a run of its own. */
export function AddSeeds({ run, figure }: { run: Run; figure: Figure | undefined }) {
  const { more_seeds: suggested, advice } = figure?.layout.meta ?? {};
  const room = MOST_SEEDS - run.seeds.length;
  const first = Math.min(room, suggested ?? FROM_ONE) || 1;
  const [text, setText] = useState(String(first));
  const [touched, setTouched] = useState(false);
  const { add, busy, error } = useAddFits(run);
  const label = useId();
  useEffect(() => {
    if (!touched) setText(String(first));
  }, [first, touched]);
  const more = Number(text);
  const valid = Number.isInteger(more) && more >= 1 && more <= room;
  return (
    <section className="card add-seeds" aria-label="More seeds">
      <h3>More seeds?</h3>
      <p className="muted small">{advice ?? "…"}</p>
      {room > 0 ? (
        <form
          className="card-actions"
          onSubmit={(event) => {
            event.preventDefault();
            if (valid) void add(more);
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
        <p className="muted small">A run has at most {MOST_SEEDS} seeds, and this one has that many.</p>
      )}
      {error && <ProblemNote error={error} />}
    </section>
  );
}
