import type { Model, Run } from "../api/types";
import { plural } from "../format/numbers";
import { GatingHeadline } from "../results/GatingHeadline";
import { mapOf, type Pair } from "../results/maps";
import { DEFAULT_COMPARE } from "../url/compare";
import { Link } from "../url/navigation";
import type { View } from "../url/view";

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
                <GatingHeadline headline={run.headline} />
              </Link>
            </li>
          ) : null;
        })}
      </ul>
    </section>
  );
}
