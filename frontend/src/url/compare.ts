// The comparison's address: which runs, which view of them, and how it is looked at.

export const COMPARISONS = ["shares", "ecdf", "correlation", "overlap"] as const;
export type ComparisonName = (typeof COMPARISONS)[number];

const SCORES = ["facilitation", "interference", "irrelevance"] as const;
const MODES = ["every", "always", "any"] as const;

export interface CompareView {
  /** Ids in the order chosen; null: what the page proposes. */
  runs: readonly string[] | null;
  view: ComparisonName;
  /** Above 0 and up to 1, two decimals. */
  threshold: number;
  mode: (typeof MODES)[number];
  score: (typeof SCORES)[number];
  /** The paper's values stand beside the runs. */
  published: boolean;
  /** Shares as the fewest seeds of any run would give them. */
  common: boolean;
}

export const DEFAULT_COMPARE: CompareView = {
  runs: null,
  view: "shares",
  threshold: 0.5,
  mode: "every",
  score: "facilitation",
  published: true,
  common: false,
};

const NO_RUNS = "none";
const ID = /^[A-Za-z0-9_-]{1,64}$/;

function oneOf<T extends string>(values: readonly T[], text: string | null, otherwise: T): T {
  return values.find((value) => value === text) ?? otherwise;
}

function parseRuns(text: string | null): string[] | null {
  if (text === null || text === "") return null;
  if (text === NO_RUNS) return [];
  const ids = text.split(",").filter((id) => ID.test(id));
  return ids.length > 0 ? [...new Set(ids)] : null;
}

export function parseCompare(search: URLSearchParams): CompareView {
  const threshold = Number(search.get("threshold"));
  return {
    runs: parseRuns(search.get("runs")),
    view: oneOf(COMPARISONS, search.get("view"), DEFAULT_COMPARE.view),
    threshold:
      threshold >= 0.005 && threshold <= 1 ? Math.round(threshold * 100) / 100 : DEFAULT_COMPARE.threshold,
    mode: oneOf(MODES, search.get("mode"), DEFAULT_COMPARE.mode),
    score: oneOf(SCORES, search.get("score"), DEFAULT_COMPARE.score),
    published: search.get("published") !== "no",
    common: search.get("seeds") === "common",
  };
}

/** All but the runs, as a share keeps it; defaults are left out. */
export function settingParameters(comparison: CompareView): Record<string, string> {
  const parameters: Record<string, string> = {};
  if (comparison.view !== DEFAULT_COMPARE.view) parameters.view = comparison.view;
  if (comparison.threshold !== DEFAULT_COMPARE.threshold)
    parameters.threshold = comparison.threshold.toFixed(2);
  if (comparison.mode !== DEFAULT_COMPARE.mode) parameters.mode = comparison.mode;
  if (comparison.score !== DEFAULT_COMPARE.score) parameters.score = comparison.score;
  if (!comparison.published) parameters.published = "no";
  if (comparison.common) parameters.seeds = "common";
  return parameters;
}

export function compareParameters(comparison: CompareView): Record<string, string> {
  const parameters = settingParameters(comparison);
  return comparison.runs === null
    ? parameters
    : { runs: comparison.runs.join(",") || NO_RUNS, ...parameters };
}
