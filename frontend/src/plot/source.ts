// Where a picture's numbers can be had, and under which name it is saved.
import { api, comparisonExport, exportAddress } from "../api/client";
import type { Table } from "../api/types";

/** A figure of a run. */
export interface RunSource {
  run: string;
  figure: string;
  share: string | null;
  view: { threshold: number; mode: string; head?: string | undefined };
}

/** A figure over several runs. */
export interface ComparedSource {
  comparison: string;
  /** Runs and how they are looked at, as the API's query. */
  query: { run: readonly string[]; share: string | null } & Record<
    string,
    string | number | boolean | null | readonly string[]
  >;
}

export type PictureSource = RunSource | ComparedSource;

export function savedAs(source: PictureSource): string {
  return "run" in source
    ? `headscope-${source.run.slice(0, 8)}-${source.figure}`
    : `headscope-compare-${source.comparison}`;
}

/** The address of the numbers as a file. */
export function numbersAddress(source: PictureSource, format: string): string {
  if (!("run" in source)) return comparisonExport(source.comparison, { format, ...source.query });
  const { run, figure, share, view } = source;
  return exportAddress(run, { format, figure, share, ...view });
}

export function tableKey(source: PictureSource): string {
  return `table ${JSON.stringify(source)}`;
}

export function tableOf(source: PictureSource, signal: AbortSignal): Promise<Table> {
  if (!("run" in source)) return api.comparisonTable(source.comparison, source.query, signal);
  const { run, figure, share, view } = source;
  return api.table(run, figure, { share, ...view }, signal);
}
