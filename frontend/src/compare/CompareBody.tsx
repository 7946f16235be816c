import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { queries } from "../api/queries";
import type { Run } from "../api/types";
import { Segmented } from "../parts/Segmented";
import { Picture } from "../plot/Picture";
import type { ComparedSource } from "../plot/source";
import type { CompareView, ComparisonName } from "../url/compare";
import { useFollowing } from "../url/useFollowing";
import { CompareControls, VIEWS } from "./CompareControls";
import {
  choicesOf,
  MOST_RUNS,
  type ModelChoice,
  modelsOf,
  proposed,
  suggestions,
  toggled,
} from "./compareRuns";
import { RunChips } from "./RunChips";
import "./compare.css";

const LEAST: Record<ComparisonName, number> = { shares: 1, ecdf: 1, correlation: 2, overlap: 2 };

interface CompareBodyProps {
  /** The finished gating runs that can be chosen. */
  runs: readonly Run[];
  comparison: CompareView;
  onComparison: (comparison: CompareView, options?: { replace?: boolean }) => void;
  /** The share through which a guest reads. */
  share: string | null;
}

/** Runs to choose from, four views of them, and caveats where they differ. */
export function CompareBody({ runs, comparison, onComparison, share }: CompareBodyProps) {
  const [followed, setThreshold] = useFollowing(comparison, onComparison);
  const choices = useMemo(() => choicesOf(runs), [runs]);
  const chosen = comparison.runs ?? proposed(comparison.view, runs);
  const missing = LEAST[comparison.view] - chosen.length;
  const models = modelsOf(chosen, runs);
  const unlike = comparison.view === "overlap" && models.length > 1;
  const none = missing > 0 || unlike;
  const source = sourceOf(comparison, chosen, share);
  const figure = useQuery({ ...queries.comparison(comparison.view, source.query), enabled: !none });
  const meta = none ? undefined : figure.data?.layout.meta;
  const choose = (next: readonly string[]) => onComparison({ ...comparison, runs: next });
  const view = VIEWS.find(({ value }) => value === comparison.view);
  return (
    <>
      <RunChips
        choices={choices}
        chosen={chosen}
        full={chosen.length >= MOST_RUNS}
        onToggle={(id) => choose(toggled(chosen, id))}
      />
      {chosen.length === 1 && (
        <section className="compare-views" aria-label="Add to the comparison">
          <span className="muted">Compare with:</span>
          {suggestions(chosen[0] ?? "", runs).map(({ text, runs }) => (
            <button key={text} type="button" className="button" onClick={() => choose(runs)}>
              {text}
            </button>
          ))}
        </section>
      )}
      <div className="compare-views">
        <Segmented
          label="View"
          options={VIEWS}
          value={comparison.view}
          onChange={(next) => onComparison({ ...comparison, view: next })}
        />
        <p className="muted">{view?.hint}.</p>
      </div>
      <CompareControls
        comparison={followed}
        onComparison={onComparison}
        onThreshold={setThreshold}
        fewest={meta?.seeds_differ ? (meta.fewest_seeds ?? null) : null}
      />
      {missing > 0 ? (
        <section className="card empty">
          <h2>{chosen.length === 0 ? "No runs chosen" : "One more run"}</h2>
          <p className="muted">
            {view?.text} needs {LEAST[comparison.view] === 1 ? "a run" : "two runs"} or more: pick them above.
          </p>
        </section>
      ) : unlike ? (
        <OneModel models={models} choices={choices} chosen={chosen} onChoose={choose} />
      ) : (
        <>
          <Notes notes={meta?.notes} />
          <Picture title={view?.text ?? ""} figure={figure} source={source} />
        </>
      )}
    </>
  );
}

/** The query that asks for the view. */
function sourceOf(comparison: CompareView, runs: readonly string[], share: string | null): ComparedSource {
  const { threshold, mode, score, published, common } = comparison;
  return {
    comparison: comparison.view,
    query: { run: [...runs], share, threshold, mode, score, published, common },
  };
}

function Notes({ notes = [] }: { notes: readonly string[] | undefined }) {
  if (notes.length === 0) return null;
  return (
    <ul className="notice compare-notes" aria-label="Caveats">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

interface OneModelProps {
  models: readonly string[];
  choices: readonly ModelChoice[];
  chosen: readonly string[];
  onChoose: (runs: readonly string[]) => void;
}

/** Heads of different models don't match: why, and each model by itself. */
function OneModel({ models, choices, chosen, onChoose }: OneModelProps) {
  return (
    <section className="card empty" aria-label="One model at a time">
      <h2>One model at a time</h2>
      <p className="muted">
        The heads of {models.join(" and ")} don’t match one by one, so their roles can’t overlap. Correlation
        compares any models.
      </p>
      <div className="card-actions">
        {choices
          .filter(({ best, others }) => [...best, ...others].some(({ id }) => chosen.includes(id)))
          .map((choice) => (
            <button
              key={choice.model}
              type="button"
              className="button"
              onClick={() => onChoose(choice.best.map(({ id }) => id))}
            >
              Only {choice.title}, {choice.best.length === 1 ? "one task" : `${choice.best.length} tasks`}
            </button>
          ))}
      </div>
    </section>
  );
}
