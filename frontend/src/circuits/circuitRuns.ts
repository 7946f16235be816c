// Which runs the circuits of a model are read from: of each analysis the newest, of one weight processing only.
import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { Loaded } from "../api/query";
import { type Analysis, FINAL, type Run, type RunRequest, type Runs } from "../api/types";
import { weightsOf } from "../results/headline";

/** The page's sections, in its order, by the analysis that fills each. */
export const SECTIONS = ["eigen", "composition", "paths", "skip-trigrams", "residual"] as const;

/** The parameter by which an analysis says how it handles weights. */
const PROCESSING = "weight_processing";

/** The ways of handling weights that an analysis knows, its default first. */
export function processings(analysis: Analysis): string[] {
  const properties = (analysis.params_schema.properties ?? {}) as Record<
    string,
    { enum?: string[]; const?: string; default?: string }
  >;
  const { enum: several, const: only, default: first } = properties[PROCESSING] ?? {};
  const known = several ?? (only === undefined ? [] : [only]);
  return [...known].sort((a, b) => Number(b === first) - Number(a === first));
}

/** Whether an analysis can be read with this weight processing; one that reads no weights fits every one. */
export function fits(analysis: Analysis, weights: string | null): boolean {
  const known = processings(analysis);
  return known.length === 0 || weights === null || known.includes(weights);
}

/** What a section shows: a result, or the run that is on its way to one, or that failed. */
export interface SectionRuns {
  done: Run | undefined;
  /** The newest run without a result, where none has been finished since. */
  open: Run | undefined;
}

/** Of one analysis and one weight processing; runs of an analysis without processing fit every one. */
export function sectionRuns(runs: readonly Run[], analysis: string, weights: string | null): SectionRuns {
  const mine = runs.filter((run) => run.analysis === analysis && [null, weights].includes(weightsOf(run)));
  const done = mine.find((run) => run.status === "done");
  const open = mine.find((run) => run.status !== "done");
  const outdated = done && open && FINAL.has(open.status);
  return { done, open: outdated ? undefined : open };
}

/** The processing to show: what the address says, else what most sections have a result of. */
export function chosenWeights(
  asked: string | null,
  runs: readonly Run[],
  known: readonly string[],
): string | null {
  if (asked !== null) return asked;
  const count = (weights: string) =>
    SECTIONS.filter((name) => sectionRuns(runs, name, weights).done !== undefined).length;
  return [...known].sort((a, b) => count(b) - count(a))[0] ?? null;
}

/** The request that fills a section: the analysis as it is by itself; "quick" looks at fewer tokens and draws. */
export function sectionRequest(analysis: Analysis, model: string, weights: string | null): RunRequest {
  const named = weights !== null && processings(analysis).includes(weights);
  return {
    analysis: analysis.name,
    model,
    preset: null,
    params: named ? { [PROCESSING]: weights } : {},
  };
}

function inMotion(run: Run): boolean {
  return SECTIONS.some((name) => name === run.analysis) && !FINAL.has(run.status);
}

/** A model's runs, asked again while one of the page's is on its way. */
export function useCircuitRuns(model: string): Loaded<Runs> {
  return useQuery({
    ...queries.runs({ model, limit: 500 }),
    refetchInterval: ({ state }) => state.data?.runs.some(inMotion) && 1500,
  });
}
