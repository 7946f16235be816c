import type { Figure, MapWords, Run, Verdict } from "../../api/types";
import { percent, plural } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { capital, type HeadSummary, heldIn, ROLE_KINDS, ROLE_WORDS, roleWord } from "../../plot/roles";
import { MOST_SEEDS, useAddFits } from "./useAddFits";

const ADVICE: Record<Verdict, string> = {
  replicates: "replicates: a new fit would give it again",
  leans: "leans: more often than not, by what is known",
  undecided: "undecided: that is not known yet",
};

/** How many heads replicate, how many more fits would tell, and the button that fits them. */
export function Replicates({
  run,
  figure,
  words = ROLE_WORDS,
  canAdd,
}: {
  run: Run;
  figure: Figure | undefined;
  words?: MapWords;
  /** Not for guests, nor before the run is done. */
  canAdd: boolean;
}) {
  const { add, busy, error } = useAddFits(run);
  const meta = figure?.layout.meta;
  const room = MOST_SEEDS - run.seeds.length;
  const more = meta?.more_seeds ?? null;
  const found = meta?.replication;
  return (
    <section className="card replicates" aria-label="Would a new fit say the same?">
      <p>
        {found && (
          <>
            <strong>{percent(found.needed.replicating)}</strong> of heads{" "}
            {words.kind === "roles" ? "are needed" : "lift when open"} in a way that replicates,{" "}
            <strong>{percent(found.harmful.replicating)}</strong>{" "}
            {words.kind === "roles" ? "harmful" : "when shut"}.{" "}
          </>
        )}
        {meta?.advice ?? <span className="skeleton text" />}
      </p>
      {canAdd && more !== null && more <= room && (
        <button
          type="button"
          className="button"
          disabled={busy}
          title="A new run that reuses these fits and makes only the new ones"
          onClick={() => void add(more)}
        >
          Add {plural(more, "fit")}
        </button>
      )}
      {error && <ProblemNote error={error} />}
    </section>
  );
}

interface HeadVerdictsProps {
  summary: HeadSummary;
  figure: Figure | undefined;
  words?: MapWords;
}

/** A head's roles, each with its share of fits, its interval and its verdict in words. */
export function HeadVerdicts({ summary, figure, words = ROLE_WORDS }: HeadVerdictsProps) {
  const found = figure?.layout.meta?.replication;
  if (!found || figure?.layout.meta?.fits !== summary.seeds) return null;
  return (
    <dl className="facts-list verdicts" aria-label="Would a new fit say the same?">
      {ROLE_KINDS.map((role) => {
        const count = heldIn(summary, role);
        const { rate, low, high, verdict } = found[role];
        const said = verdict[count];
        if (said === undefined || (count === 0 && role !== "needed")) return null;
        return (
          <div key={role}>
            <dt>
              {capital(roleWord(words, role))} in {count} of {summary.seeds}
            </dt>
            <dd>
              <strong>{ADVICE[said]}</strong>
              <span className="muted">
                {percent(rate[count])} in a new fit, 90 %: {percent(low[count])}–{percent(high[count])}
              </span>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
