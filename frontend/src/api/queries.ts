// What a page reads: one query a route. Two that ask the same share one request and its answer.
import { hashKey, type QueryKey, queryOptions } from "@tanstack/react-query";
import { answered, http } from "./http";
import type { operations } from "./schema";
import type { Figure, Run, RunRequest } from "./types";

type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;
export type RunFilter = QueryOf<"list_runs">;
export type FigureView = QueryOf<"get_figure">;
export type TableView = QueryOf<"get_table">;
export type ComparedView = QueryOf<"get_comparison">;

/** A run's result: another name is another result of the same run, which had been stopped and was gone on with. */
export type ResultName = Pick<Run, "id" | "result">;

/** What never changes under its key is asked for once. */
export const FIXED = { staleTime: Number.POSITIVE_INFINITY };

/** Whether a query's key begins so: then its answer stays until the next one is there, and no picture blinks. */
export function isWithin(start: QueryKey, query: { queryKey: QueryKey } | undefined): boolean {
  return query !== undefined && hashKey(query.queryKey.slice(0, start.length)) === hashKey(start);
}

/** A figure; openapi-fetch takes the pairs in it for lists of any length. */
function figureOf<Read extends Pick<Figure, "data">>(request: Promise<{ data?: Read }>): Promise<Figure> {
  return answered<Pick<Figure, "data">>(request) as Promise<Figure>;
}

function resultKey({ id, result }: ResultName): QueryKey {
  return ["results", id, result];
}

export const queries = {
  health: () =>
    queryOptions({
      queryKey: ["health"],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/health", { signal })),
    }),
  theme: () =>
    queryOptions({
      queryKey: ["theme"],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/theme", { signal })),
      ...FIXED,
    }),
  /** They change with the program only. */
  analyses: () =>
    queryOptions({
      queryKey: ["analyses"],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/analyses", { signal })),
      ...FIXED,
    }),

  models: () =>
    queryOptions({
      queryKey: ["models"],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/models", { signal })),
    }),
  model: (name: string) =>
    queryOptions({
      queryKey: ["models", name],
      queryFn: ({ signal }) =>
        answered(http.GET("/api/v1/models/{name}", { params: { path: { name } }, signal })),
    }),
  knownModels: () =>
    queryOptions({
      queryKey: ["known-models"],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/known-models", { signal })),
    }),
  /** A list of heads as it was pasted, read. */
  heads: (name: string, text: string) =>
    queryOptions({
      queryKey: ["models", name, "heads", text],
      queryFn: ({ signal }) =>
        answered(
          http.POST("/api/v1/models/{name}/heads", { params: { path: { name } }, body: { text }, signal }),
        ),
      ...FIXED,
    }),

  tasks: () =>
    queryOptions({
      queryKey: ["tasks"],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/tasks", { signal })),
    }),
  task: (name: string) =>
    queryOptions({
      queryKey: ["tasks", name],
      queryFn: ({ signal }) =>
        answered(http.GET("/api/v1/tasks/{name}", { params: { path: { name } }, signal })),
    }),
  examples: (name: string, query: QueryOf<"task_examples">) =>
    queryOptions({
      queryKey: ["tasks", name, "examples", query],
      queryFn: ({ signal }) =>
        answered(http.GET("/api/v1/tasks/{name}/examples", { params: { path: { name }, query }, signal })),
    }),
  accuracy: (name: string, model: string) =>
    queryOptions({
      queryKey: ["tasks", name, "accuracy", model],
      queryFn: ({ signal }) =>
        answered(
          http.GET("/api/v1/tasks/{name}/accuracy", { params: { path: { name }, query: { model } }, signal }),
        ),
    }),

  runs: (query: RunFilter) =>
    queryOptions({
      queryKey: ["runs", "list", query],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/runs", { params: { query }, signal })),
    }),
  run: (run_id: string, share: string | null) =>
    queryOptions({
      queryKey: ["runs", "one", run_id, share],
      queryFn: ({ signal }) =>
        answered(
          http.GET("/api/v1/runs/{run_id}", { params: { path: { run_id }, query: { share } }, signal }),
        ),
    }),
  estimate: (body: RunRequest) =>
    queryOptions({
      queryKey: ["estimate", body],
      queryFn: ({ signal }) => answered(http.POST("/api/v1/runs/estimate", { body, signal })),
    }),

  /** A result; without its arrays where only what it says is asked for. */
  result: (run: ResultName, query: QueryOf<"get_result">) =>
    queryOptions({
      queryKey: [...resultKey(run), "result", query],
      queryFn: ({ signal }) =>
        answered(
          http.GET("/api/v1/runs/{run_id}/result", { params: { path: { run_id: run.id }, query }, signal }),
        ),
      ...FIXED,
    }),
  /** A figure; until the one asked for is there, the last of its name stays. */
  figure: (run: ResultName, name: string, query: FigureView = {}) => {
    const key = [...resultKey(run), "figure", name];
    return queryOptions({
      queryKey: [...key, query],
      queryFn: ({ signal }) =>
        figureOf(
          http.GET("/api/v1/runs/{run_id}/figures/{name}", {
            params: { path: { run_id: run.id, name }, query },
            signal,
          }),
        ),
      placeholderData: (last, before) => (isWithin(key, before) ? last : undefined),
      ...FIXED,
    });
  },
  table: (run: ResultName, name: string, query: TableView = {}) =>
    queryOptions({
      queryKey: [...resultKey(run), "table", name, query] as QueryKey,
      queryFn: ({ signal }) =>
        answered(
          http.GET("/api/v1/runs/{run_id}/tables/{name}", {
            params: { path: { run_id: run.id, name }, query },
            signal,
          }),
        ),
      ...FIXED,
    }),

  /** A view over several runs; until the one asked for is there, the last of its name stays. */
  comparison: (name: string, query: ComparedView) => {
    const key = ["comparisons", name, "figure"];
    return queryOptions({
      queryKey: [...key, query],
      queryFn: ({ signal }) =>
        figureOf(http.GET("/api/v1/comparisons/{name}", { params: { path: { name }, query }, signal })),
      placeholderData: (last, before) => (isWithin(key, before) ? last : undefined),
      ...FIXED,
    });
  },
  comparisonTable: (name: string, query: ComparedView) =>
    queryOptions({
      queryKey: ["comparisons", name, "table", query] as QueryKey,
      queryFn: ({ signal }) =>
        answered(http.GET("/api/v1/comparisons/{name}/table", { params: { path: { name }, query }, signal })),
      ...FIXED,
    }),

  validations: () =>
    queryOptions({
      queryKey: ["validation"],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/validation", { signal })),
      ...FIXED,
    }),
  replications: () =>
    queryOptions({
      queryKey: ["validation", "roles"],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/validation/roles", { signal })),
      ...FIXED,
    }),
  replicationFigure: () =>
    queryOptions({
      queryKey: ["validation", "roles", "figure"],
      queryFn: ({ signal }) => figureOf(http.GET("/api/v1/validation/roles/figure", { signal })),
      ...FIXED,
    }),
  validationFigure: (name: string) =>
    queryOptions({
      queryKey: ["validation", name, "figure"],
      queryFn: ({ signal }) =>
        figureOf(http.GET("/api/v1/validation/{name}/figure", { params: { path: { name } }, signal })),
      ...FIXED,
    }),

  shares: () =>
    queryOptions({
      queryKey: ["shares"],
      queryFn: ({ signal }) => answered(http.GET("/api/v1/shares", { signal })),
    }),
  share: (token: string) =>
    queryOptions({
      queryKey: ["shares", token],
      queryFn: ({ signal }) =>
        answered(http.GET("/api/v1/shares/{token}", { params: { path: { token } }, signal })),
    }),
};
