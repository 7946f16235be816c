import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { ProblemNote } from "../parts/ProblemNote";
import { useDeclare } from "../parts/subject";
import { usePlotly } from "../plot/plotly";
import { MAPPED, mappedRuns } from "../results/maps";
import type { CompareView } from "../url/compare";
import { go, Link } from "../url/navigation";
import { NEW_RUN, type Place } from "../url/view";
import { CompareBody } from "./CompareBody";
import { proposed } from "./compareRuns";

/** Several finished gating runs side by side. */
export default function ComparePage({ place }: { place: Extract<Place, { page: "compare" }> }) {
  usePlotly();
  const { page: _, ...comparison } = place;
  const runs = useQuery(mappedRuns());
  const onComparison = useCallback(
    (next: CompareView, options?: { replace?: boolean }) => go({ page: "compare", ...next }, options),
    [],
  );
  const found = runs.data?.runs;
  const chosen = found && (comparison.runs ?? proposed(comparison.view, found)).join(",");
  const address = JSON.stringify(comparison);
  useDeclare(
    useMemo(
      () =>
        chosen
          ? {
              kind: "compare" as const,
              runs: chosen.split(","),
              comparison: JSON.parse(address) as CompareView,
              share: null,
            }
          : null,
      [chosen, address],
    ),
  );
  return (
    <div className="page">
      <div className="section-head">
        <h1>Compare</h1>
      </div>
      <p className="facts">Finished gating runs side by side. The number on a chip is its number of seeds.</p>
      {runs.error && !found && <ProblemNote error={runs.error} retry={runs.refetch} />}
      {runs.isLoading && (
        <div className="skeleton page-skeleton" role="status" aria-label="Loading the runs" />
      )}
      {found &&
        (found.length === 0 && comparison.runs === null ? (
          <NothingYet />
        ) : (
          <CompareBody runs={found} comparison={comparison} onComparison={onComparison} share={null} />
        ))}
    </div>
  );
}

function NothingYet() {
  return (
    <section className="card empty">
      <h2>No finished gating run yet</h2>
      <p className="muted">
        Causal head gating finds which heads a task needs; two finished runs can be compared.
      </p>
      <div className="card-actions">
        <Link className="button primary" to={{ page: "new", ...NEW_RUN, analysis: MAPPED, preset: "quick" }}>
          Start a quick run
        </Link>
      </div>
    </section>
  );
}
