// The lab's requests. What follows the hand are functions that the caller aborts; what is only read are queries.
import { queryOptions } from "@tanstack/react-query";
import { answered, http, multipart } from "./http";
import type { LabAsk, LookOut, PatternsOut } from "./labTypes";
import { FIXED, isWithin, type ResultName } from "./queries";
import type { components, operations } from "./schema";

type Schemas = components["schemas"];
type Signal = AbortSignal | undefined;
/** A question without what only tells the newest from older ones. */
type Ask<Name extends keyof Schemas> = Omit<Schemas[Name], "board" | "turn" | "wait">;

// The page's own name: of what it asks of one route and still waits, the worker computes the newest only.
const board = Math.random().toString(36).slice(2);
let turn = 0;

function newest<Question>(ask: Question): Question & { board: string; turn: number } {
  turn += 1;
  return { ...ask, board, turn };
}

export const labApi = {
  gates: (ask: Ask<"GatesIn">, signal?: Signal) =>
    answered(http.POST("/api/v1/lab/gates", { body: newest(ask), signal })),
  continue: (body: Ask<"ContinueIn">, signal?: Signal) =>
    answered(http.POST("/api/v1/lab/continue", { body, signal })),
  attribution: (body: Ask<"AttributionIn">, signal?: Signal) =>
    answered(http.POST("/api/v1/lab/attribution", { body, signal })),
  lens: (body: Ask<"LensIn">, signal?: Signal) => answered(http.POST("/api/v1/lab/lens", { body, signal })),

  tokenize: (model: string, text: string, bos: boolean | null, signal?: Signal) =>
    answered(http.POST("/api/v1/prompts/tokenize", { body: { model, text, bos }, signal })),
  keepPrompt: (text: string, name = "") => answered(http.POST("/api/v1/prompts", { body: { text, name } })),
  uploadPrompts: (form: FormData) => answered(http.POST("/api/v1/prompts/upload", multipart(form))),
  deletePrompt: (prompt_id: string) =>
    answered(http.DELETE("/api/v1/prompts/{prompt_id}", { params: { path: { prompt_id } } })),

  keepGates: (body: Schemas["GateVectorIn"]) => answered(http.POST("/api/v1/gates", { body })),
  uploadGates: (form: FormData) => answered(http.POST("/api/v1/gates/upload", multipart(form))),
  keepGatesOfRun: (run_id: string, preset?: string) =>
    answered(http.POST("/api/v1/gates/of-run/{run_id}", { params: { path: { run_id }, query: { preset } } })),
  deleteGates: (gates_id: string) =>
    answered(http.DELETE("/api/v1/gates/{gates_id}", { params: { path: { gates_id } } })),
};

/** What may be a megabyte: only the current one stays, as `read` gives it. */
const LARGE = { ...FIXED, gcTime: 0 };

export const labQueries = {
  /** All heads on a prompt; while it is looked at in another way, the last look at it stays. */
  look: <T>(ask: LabAsk, way: { fold: boolean; weighted: boolean }, read: (out: LookOut) => T) =>
    queryOptions({
      queryKey: ["lab", "look", ask, way],
      queryFn: ({ signal }) =>
        answered(
          http
            .POST("/api/v1/lab/look", { body: newest({ ...ask, ...way }), signal })
            .then(({ data }) => ({ data: data && read(data) })),
        ),
      placeholderData: (last, before) => (isWithin(["lab", "look", ask], before) ? last : undefined),
      ...LARGE,
    }),
  patterns: <T>(body: Ask<"PatternsIn">, read: (out: PatternsOut) => T) =>
    queryOptions({
      queryKey: ["lab", "patterns", body],
      queryFn: ({ signal }) =>
        answered(
          http
            .POST("/api/v1/lab/patterns", { body, signal })
            .then(({ data }) => ({ data: data && read(data) })),
        ),
      ...LARGE,
    }),
  ablation: (ask: Ask<"HeadAblationIn">) =>
    queryOptions({
      queryKey: ["lab", "ablation", ask],
      queryFn: ({ signal }) => answered(http.POST("/api/v1/lab/ablation", { body: newest(ask), signal })),
      ...FIXED,
    }),

  prompts: () =>
    queryOptions({
      queryKey: ["prompts"],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/prompts", { signal })),
    }),
  promptsOf: (prompt_id: string) => ["prompts", prompt_id],
  /** One row of a stored prompt or batch. */
  prompt: (prompt_id: string, offset: number) =>
    queryOptions({
      queryKey: ["prompts", prompt_id, offset],
      queryFn: ({ signal }) =>
        answered(
          http.GET("/api/v1/prompts/{prompt_id}", {
            params: { path: { prompt_id }, query: { offset, limit: 1 } },
            signal,
          }),
        ),
      ...FIXED,
    }),
  promptExamples: (model: string) =>
    queryOptions({
      queryKey: ["prompt examples", model],
      queryFn: ({ signal }) =>
        answered(http.GET("/api/v1/prompts/examples", { params: { query: { model } }, signal })),
      ...FIXED,
    }),
  gateVectors: (model: string) =>
    queryOptions({
      queryKey: ["gates", "of model", model],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/gates", { params: { query: { model } }, signal })),
    }),
  gateVector: (gates_id: string) =>
    queryOptions({
      queryKey: ["gates", "one", gates_id],
      queryFn: ({ signal }) =>
        answered(http.GET("/api/v1/gates/{gates_id}", { params: { path: { gates_id } }, signal })),
      ...FIXED,
    }),
  /** What a run offers to the mixing board. */
  gatePresets: (
    run: ResultName,
    query: NonNullable<operations["list_presets"]["parameters"]["query"]> = {},
  ) =>
    queryOptions({
      queryKey: ["results", run.id, run.result, "gates", query],
      queryFn: ({ signal }) =>
        answered(
          http.GET("/api/v1/runs/{run_id}/gates", { params: { path: { run_id: run.id }, query }, signal }),
        ),
      ...FIXED,
    }),
};
