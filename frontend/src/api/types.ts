// Names for the generated types; the shapes themselves come from the server's OpenAPI alone.
import type { LabShareRequest } from "./labTypes";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Problem = Schemas["Problem"];
export type Model = Schemas["ModelOut"];
export type Task = Schemas["TaskOut"];
export type TaskExamples = Schemas["TaskExamplesOut"];
export type Example = Schemas["ExampleOut"];
export type TaskAccuracy = Schemas["TaskAccuracyOut"];
export type Token = Schemas["TokenOut"];
export type Analysis = Schemas["AnalysisOut"];
export type RunRequest = Pick<Schemas["RunIn"], "model"> & Partial<Schemas["RunIn"]>;
export type Estimate = Schemas["EstimateOut"];
export type Progress = Schemas["ProgressOut"];
export type Attempt = Schemas["AttemptOut"];
export type Run = Schemas["RunOut"];
export type Runs = Schemas["RunsOut"];
export type RunStatus = Run["status"];
/** Runs to share, or a view of the lab. */
export type ShareRequest = Partial<Omit<Schemas["ShareIn"], "lab">> & { lab?: LabShareRequest | null };
export type Share = Schemas["ShareOut"];
/** A share with the runs it opens, or the view of the lab. */
export type Shared = Schemas["SharedOut"];
export type Health = Schemas["HealthOut"];
export type Worker = Schemas["WorkerOut"];

/** plotly's typed array: little-endian base64 with its dtype and shape; NaN survives it. */
export interface TypedArray {
  dtype: string;
  bdata: string;
  shape?: string;
}

/** A finished causal head gating, as `/runs/{id}/result` sends it. */
export interface ChgResult {
  analysis: string;
  schema_version: number;
  seeds: number[];
  model: { n_layers: number; n_heads: number; n_kv_heads: number; revision: string; dtype: string } & Record<
    string,
    unknown
  >;
  g_zero: TypedArray;
  g_plus: TypedArray;
  g_minus: TypedArray;
  values: Record<string, unknown>;
}

/** What a result says beside its arrays. */
export interface ResultValues {
  analysis: string;
  params: Record<string, unknown>;
  values: Record<string, unknown>;
}

/** A plotly figure without its template: the theme is sent once. */
export interface Figure {
  data: Record<string, unknown>[];
  layout: Record<string, unknown> & { meta?: FigureMeta };
}

/** What a figure of a run or of several says of itself; one that a page draws says less. */
export type FigureMeta = Partial<Schemas["ComparisonMeta"]>;
export type Disagreement = Schemas["Disagreement"];
export type RoleRanges = Schemas["RoleRanges"];

/** A figure's twin in numbers, at full resolution. */
export type Table = Schemas["TableOut"];

export interface Themes {
  light: Record<string, unknown>;
  dark: Record<string, unknown>;
}

export type Theme = keyof Themes;

/** In these a run doesn't change any more. */
export const FINAL: ReadonlySet<RunStatus> = new Set<RunStatus>(["done", "failed", "cancelled"]);
