import type { Figure, MapWords, Run, Verdict } from "../../api/types";
import { percent } from "../../format/numbers";
import { capital, type HeadSummary, heldIn, ROLE_KINDS, ROLE_WORDS, roleWord } from "../../plot/roles";
import { AddFits } from "./AddFits";
import { AnotherFit } from "./AnotherFit";

/** Fits on permuted targets, enough to find most heads that stand out. */
const NULL_FITS = 5;

/** The fewest fits from which anything can be foreseen are three. */
const FROM_ONE = 2;

const ADVICE: Record<Verdict, string> = {
  replicates: "replicates: a new fit would give it again",
  leans: "leans: more often than not, by what is known",
  undecided: "undecided: that is not known yet",
};

/** How many heads replicate, how many more fits would tell that or steady the shares, and the button that makes
 * them. */
export function Replicates({
  run,
  figure,
  seeds,
  words = ROLE_WORDS,
  canAdd,
}: {
  run: Run;
  figure: Figure | undefined;
  /** The figure of shares against seeds. */
  seeds?: Figure | undefined;
  words?: MapWords;
  /** Not for guests, nor before the run is done. */
  canAdd: boolean;
}) {
  const meta = figure?.layout.meta;
  const found = meta?.replication;
  const shares = seeds?.layout.meta;
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
        {shares?.advice && <span className="muted small"> {shares.advice}</span>}
      </p>
      {canAdd && (
        <div className="card-actions">
          <AddFits run={run} suggested={meta?.more_seeds || shares?.more_seeds || FROM_ONE} />
          {!run.params.null_fits && (
            <AnotherFit
              run={run}
              change={{ adds_to: run.id, null_fits: NULL_FITS }}
              title="A new run that takes these fits and makes five with targets exchanged among the rows: which heads have their role whatever is asked"
            >
              Hold against permuted targets
            </AnotherFit>
          )}
        </div>
      )}
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
