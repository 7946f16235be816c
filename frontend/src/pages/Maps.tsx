import type { Model, Run } from "../api/types";
import { percent, plural, share } from "../format/numbers";
import { DEFAULT_COMPARE } from "../url/compare";
import { Link } from "../url/navigation";
import type { View } from "../url/view";
import { mapOf, type Pair } from "./atlas";

interface MapsProps {
  runs: Run[];
  models: Model[];
  current: Pair;
  view: View;
}

/** One for each pair that has a map, in the order of the list. */
function pairsOf(runs: readonly Run[]): Pair[] {
  const seen = new Map<string, Pair>();
  for (const { model, task } of runs) if (task !== null) seen.set(`${model}\n${task}`, { model, task });
  return [...seen.values()];
}

/** All maps there are, small. */
export function Maps({ runs, models, current, view }: MapsProps) {
  const pairs = pairsOf(runs);
  if (pairs.length === 0) return null;
  return (
    <section className="maps" aria-label="All maps">
      <div className="section-head">
        <h2>All maps</h2>
        {pairs.length > 1 && (
          <Link className="button" to={{ page: "compare", ...DEFAULT_COMPARE }}>
            Compare them
          </Link>
        )}
      </div>
      <ul className="map-list">
        {pairs.map((pair) => {
          const run = mapOf(pair, runs);
          const here = pair.model === current.model && pair.task === current.task;
          return run ? (
            <li key={`${pair.model} ${pair.task}`}>
              <Link
                className="card map-card"
                aria-current={here ? "true" : undefined}
                to={{ page: "atlas", ...pair, view }}
              >
                <strong>{run.task_title ?? pair.task}</strong>
                <span className="muted">
                  {models.find(({ name }) => name === pair.model)?.title ?? pair.model} ·{" "}
                  {plural(run.seeds.length, "seed")}
                </span>
                <Headline headline={run.headline} />
              </Link>
            </li>
          ) : null;
        })}
      </ul>
    </section>
  );
}

export function headlineNumber(headline: Run["headline"], name: string): number | null {
  const value = headline?.[name];
  return typeof value === "number" ? value : null;
}

/** Two thin bars: what is always so, within what is so in some seed. */
export function Headline({ headline }: { headline: Run["headline"] }) {
  const bar = (role: "needed" | "harmful") => {
    const always = headlineNumber(headline, `always_${role}`);
    const any = headlineNumber(headline, `any_${role}`);
    if (always === null || any === null) return null;
    return (
      <span
        className={`mini-bar ${role}`}
        title={`${role}: ${percent(always)} of heads always, ${percent(any)} in some seed`}
      >
        <i className="any" style={{ width: `${any * 100}%` }} />
        <i className="always" style={{ width: `${always * 100}%` }} />
        <span className="visually-hidden">
          {role}: {percent(always)} of heads always, {percent(any)} in some seed
        </span>
      </span>
    );
  };
  const [before, after] = [
    headlineNumber(headline, "accuracy_ungated"),
    headlineNumber(headline, "accuracy_plus"),
  ];
  return (
    <span className="headline">
      {bar("needed")}
      {bar("harmful")}
      {before !== null && after !== null && (
        <span className="muted small" title="Held-out accuracy, ungated → with harmful heads shut">
          accuracy {share(before)} → {share(after)}
        </span>
      )}
    </span>
  );
}
