// Where a picture's numbers can be had, and under which name it is saved.
import { addressOf } from "../api/http";
import { type ComparedView, queries, type ResultName, type TableView } from "../api/queries";

/** A figure of a run. */
export interface RunSource {
  run: ResultName;
  figure: string;
  share: string | null;
  view: Omit<TableView, "share">;
}

/** A figure over several runs. */
export interface ComparedSource {
  comparison: string;
  /** Runs and how they are looked at, as the API's query. */
  query: ComparedView;
}

export type PictureSource = RunSource | ComparedSource;

export function savedAs(source: PictureSource): string {
  return "run" in source
    ? `headscope-${source.run.id.slice(0, 8)}-${source.figure}`
    : `headscope-compare-${source.comparison}`;
}

/** The address of the numbers as a file. */
export function numbersAddress(source: PictureSource, format: "csv" | "json"): string {
  if (!("run" in source)) {
    const query = { format, ...source.query };
    return addressOf("/api/v1/comparisons/{name}/export", { path: { name: source.comparison }, query });
  }
  const { run, figure, share, view } = source;
  const query = { format, figure, share, ...view };
  return addressOf("/api/v1/runs/{run_id}/export", { path: { run_id: run.id }, query });
}

/** The numbers to show. */
export function tableQuery(source: PictureSource) {
  if (!("run" in source)) return queries.comparisonTable(source.comparison, source.query);
  const { run, figure, share, view } = source;
  return queries.table(run, figure, { share, ...view });
}
