// Names for the generated types; the shapes themselves come from the server's OpenAPI alone.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Problem = Schemas["Problem"];
export type Model = Schemas["ModelOut"];
/** What was proved of a model, and one check of it. */
export type Proof = Schemas["ProofOut"];
export type Check = Schemas["CheckOut"];
/** A well-known model that can be added, with what it takes. */
export type KnownModel = Schemas["KnownModelOut"];
export type KnownModels = Schemas["KnownModelsOut"];
/** What a config.json describes, and what is expected of its heads. */
export type Trial = Schemas["TrialOut"];
export type Replication = Schemas["ReplicationOut"];
export type Validation = Schemas["ValidationOut"];
export type ValidationCell = Schemas["ValidationCellOut"];
export type Task = Schemas["TaskOut"];
export type TaskExamples = Schemas["TaskExamplesOut"];
export type Example = Schemas["ExampleOut"];
export type TaskAccuracy = Schemas["TaskAccuracyOut"];
export type Token = Schemas["TokenOut"];
export type Analysis = Schemas["AnalysisOut"];
export type RunRequest = Schemas["RunIn"];
export type Estimate = Schemas["EstimateOut"];
export type Progress = Schemas["ProgressOut"];
export type Attempt = Schemas["AttemptOut"];
export type Run = Schemas["RunOut"];
export type HeadlineValue = Schemas["HeadlineValueOut"];
export type Runs = Schemas["RunsOut"];
export type RunStatus = Run["status"];
/** Runs to share, or a view of the lab. */
export type ShareRequest = Schemas["ShareIn"];
export type Share = Schemas["ShareOut"];
/** A share with the runs it opens, or the view of the lab. */
export type Shared = Schemas["SharedOut"];
export type Health = Schemas["HealthOut"];
export type Worker = Schemas["WorkerOut"];

/** plotly's typed array: little-endian base64 with its dtype and shape; NaN survives it. Of one axis it may have no shape. */
export type TypedArray = Omit<Schemas["TypedArray"], "shape"> & Partial<Schemas["TypedArray"]>;

/** What `/runs/{id}/result` sends; an analysis' arrays stand beside the names that every result has. */
export type Result = Schemas["ResultOut"];

/** A plotly figure without its template: the theme is sent once. */
export interface Figure {
  data: Record<string, unknown>[];
  layout: Record<string, unknown> & { meta?: FigureMeta };
}

/** What a figure of a run or of several says of itself; one that a page draws says less. */
export type FigureMeta = Partial<Schemas["ComparisonMeta"]>;
export type Disagreement = Schemas["Disagreement"];
export type RoleRanges = Schemas["RoleRanges"];
export type RoleReplication = Schemas["RoleReplication"];
export type Verdict = RoleReplication["verdict"][number];
export type MapWords = Schemas["MapWords"];

/** A figure's twin in numbers, at full resolution. */
export type Table = Schemas["TableOut"];

export type Paint = Schemas["PaintOut"];
export type Paints = Schemas["ThemeOut"];
export type Theme = keyof Paints;

/** In these a run doesn't change any more. */
export const FINAL: ReadonlySet<RunStatus> = new Set<RunStatus>(["done", "failed", "cancelled"]);
