import { Segmented } from "../parts/Segmented";
import { ThresholdSlider } from "../results/ThresholdSlider";
import type { CompareView, ComparisonName, DEFAULT_COMPARE } from "../url/compare";

export const VIEWS: { value: ComparisonName; text: string; hint: string }[] = [
  { value: "shares", text: "Shares", hint: "How many heads have each role, as in the paper’s table 2" },
  {
    value: "ecdf",
    text: "Distributions",
    hint: "How many heads reach a score, models laid over one another",
  },
  {
    value: "correlation",
    text: "Correlation",
    hint: "How similar the score distributions of any two runs are",
  },
  { value: "overlap", text: "Overlap", hint: "Whether tasks of one model use the same heads" },
];

const ROLES: { value: CompareView["score"]; text: string; hint: string }[] = [
  { value: "facilitation", text: "Needed", hint: "Facilitation: G−" },
  { value: "interference", text: "Harmful", hint: "Interference: 1 − G+" },
  { value: "irrelevance", text: "Doesn’t matter", hint: "Irrelevance: G+ (1 − G−)" },
];

const COUNTED: { value: CompareView["mode"]; text: string; hint: string }[] = [
  { value: "every", text: "Share of seeds", hint: "A head counts by the share of seeds with the role" },
  { value: "always", text: "Always", hint: "Heads with the role in every seed" },
  { value: "any", text: "Any", hint: "Heads with the role in at least one seed" },
];

/** What each view follows, as `GET /comparisons` says it. */
const FOLLOWS: Record<ComparisonName, readonly (keyof typeof DEFAULT_COMPARE)[]> = {
  shares: ["threshold", "published", "common"],
  ecdf: ["threshold", "score"],
  correlation: ["score"],
  overlap: ["threshold", "mode", "score"],
};

interface CompareControlsProps {
  comparison: CompareView;
  onComparison: (comparison: CompareView) => void;
  onThreshold: (threshold: number) => void;
  /** The fewest seeds of any run, where the runs differ in them. */
  fewest: number | null;
}

/** How the chosen runs are looked at: only what changes this view. */
export function CompareControls({ comparison, onComparison, onThreshold, fewest }: CompareControlsProps) {
  const follows = FOLLOWS[comparison.view];
  return (
    <div className="controls">
      {follows.includes("score") && (
        <Segmented
          label="Role"
          options={ROLES}
          value={comparison.score}
          onChange={(score) => onComparison({ ...comparison, score })}
        />
      )}
      {follows.includes("mode") && (
        <Segmented
          label="How heads count"
          options={COUNTED}
          value={comparison.mode}
          onChange={(mode) => onComparison({ ...comparison, mode })}
        />
      )}
      {follows.includes("threshold") && (
        <ThresholdSlider threshold={comparison.threshold} onThreshold={onThreshold} />
      )}
      {follows.includes("published") && (
        <label className="check">
          <input
            type="checkbox"
            checked={comparison.published}
            onChange={({ target }) => onComparison({ ...comparison, published: target.checked })}
          />
          with the paper’s Llama models
        </label>
      )}
      {follows.includes("common") && (fewest !== null || comparison.common) && (
        <label className="check" title="Always shrinks and Any grows with the number of seeds">
          <input
            type="checkbox"
            checked={comparison.common}
            onChange={({ target }) => onComparison({ ...comparison, common: target.checked })}
          />
          {fewest === null ? "at the same number of seeds" : `with ${fewest} seeds of each`}
        </label>
      )}
    </div>
  );
}
