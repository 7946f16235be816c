import { useEffect, useState } from "react";
import type { Run } from "../../api/types";
import { plural } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { MOST_SEEDS, useStartFits } from "./useStartFits";

/** Fits so many more into a run of its own, which takes over these. The reader may choose another number. */
export function AddFits({ run, suggested }: { run: Run; suggested: number }) {
  const room = MOST_SEEDS - run.seeds.length;
  const first = Math.min(room, suggested);
  const [text, setText] = useState(String(first));
  const [touched, setTouched] = useState(false);
  const { start, busy, error } = useStartFits(run);
  useEffect(() => {
    if (!touched) setText(String(first));
  }, [first, touched]);
  if (room === 0) {
    return <p className="muted small">A run has at most {MOST_SEEDS} fits, and this one has that many.</p>;
  }
  const more = Number(text);
  const valid = Number.isInteger(more) && more >= 1 && more <= room;
  return (
    <form
      className="card-actions add-fits"
      onSubmit={(event) => {
        event.preventDefault();
        if (valid) void start({ adds_to: run.id, seeds: run.seeds.length + more });
      }}
    >
      <input
        type="number"
        className="input"
        aria-label="How many fits to add"
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
        title="A new run that reuses these fits and makes only the new ones"
      >
        {valid ? `Add ${plural(more, "fit")}` : `1 to ${room} fits`}
      </button>
      {error && <ProblemNote error={error} />}
    </form>
  );
}
