// One function a route. The network may fail in any of them; each failure is an ApiError.
import { reportAnswer, reportSignedOut, reportSilence } from "./connection";
import { offline, problemOf } from "./errors";
import type {
  Analysis,
  ChgResult,
  Estimate,
  Figure,
  Health,
  Model,
  ResultValues,
  Run,
  RunRequest,
  Runs,
  Share,
  Shared,
  ShareRequest,
  Table,
  Task,
  TaskAccuracy,
  TaskExamples,
  Themes,
} from "./types";

export const BASE = "/api/v1";

type Scalar = string | number | boolean | null | undefined;
export type Query = Record<string, Scalar | readonly string[]>;

/** An address of the API; parameters without a value are left out, those with several are repeated. */
export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") search.append(name, String(one));
    }
  }
  const text = search.toString();
  return `${BASE}/${path}${text ? `?${text}` : ""}`;
}

async function send(url: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    reportSilence();
    throw offline();
  }
  // A proxy in front answers for a server that is gone.
  if (response.status === 502 || response.status === 504) {
    reportSilence();
    throw offline();
  }
  reportAnswer();
  if (response.ok) return response;
  const error = await problemOf(response);
  if (error.needsSignIn && !url.endsWith("/sign-in")) reportSignedOut();
  throw error;
}

export async function json<T>(url: string, options: RequestInit = {}): Promise<T> {
  const response = await send(url, options);
  return (response.status === 204 ? null : await response.json()) as T;
}

export function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return json<T>(address(path, query), { signal: signal ?? null });
}

export function post<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return json<T>(address(path), {
    method: "POST",
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  });
}

export function remove(path: string): Promise<null> {
  return json<null>(address(path), { method: "DELETE" });
}

export const part = encodeURIComponent;

export const api = {
  health: (signal?: AbortSignal) => get<Health>("health", {}, signal),
  themes: (signal?: AbortSignal) => get<Themes>("theme", {}, signal),
  models: (signal?: AbortSignal) => get<Model[]>("models", {}, signal),
  model: (name: string, signal?: AbortSignal) => get<Model>(`models/${part(name)}`, {}, signal),
  tasks: (signal?: AbortSignal) => get<Task[]>("tasks", {}, signal),
  task: (name: string, signal?: AbortSignal) => get<Task>(`tasks/${part(name)}`, {}, signal),
  examples: (task: string, query: { model: string; split: string; limit: number }, signal?: AbortSignal) =>
    get<TaskExamples>(`tasks/${part(task)}/examples`, query, signal),
  accuracy: (task: string, model: string, signal?: AbortSignal) =>
    get<TaskAccuracy>(`tasks/${part(task)}/accuracy`, { model }, signal),
  addTask: (form: FormData) => json<Task>(address("tasks"), { method: "POST", body: form }),
  deleteTask: (name: string) => remove(`tasks/${part(name)}`),
  analyses: (signal?: AbortSignal) => get<Analysis[]>("analyses", {}, signal),
  startRun: (request: RunRequest) => post<Run>("runs", request),
  estimate: (request: RunRequest, signal?: AbortSignal) => post<Estimate>("runs/estimate", request, signal),
  runs: (query: Query = {}, signal?: AbortSignal) => get<Runs>("runs", query, signal),
  run: (id: string, share: string | null, signal?: AbortSignal) =>
    get<Run>(`runs/${part(id)}`, { share }, signal),
  deleteRun: (id: string) => remove(`runs/${part(id)}`),
  cancelRun: (id: string) => post<Run>(`runs/${part(id)}/cancel`),
  reproduceRun: (id: string) => post<Run>(`runs/${part(id)}/reproduce`),
  result: (id: string, share: string | null, signal?: AbortSignal) =>
    get<ChgResult>(`runs/${part(id)}/result`, { share }, signal),
  /** A result without its arrays. */
  values: (id: string, share: string | null, signal?: AbortSignal) =>
    get<ResultValues>(`runs/${part(id)}/result`, { share, arrays: false }, signal),
  figure: (id: string, name: string, query: Query = {}, signal?: AbortSignal) =>
    get<Figure>(`runs/${part(id)}/figures/${part(name)}`, query, signal),
  table: (id: string, name: string, query: Query = {}, signal?: AbortSignal) =>
    get<Table>(`runs/${part(id)}/tables/${part(name)}`, query, signal),
  comparison: (name: string, query: Query, signal?: AbortSignal) =>
    get<Figure>(`comparisons/${part(name)}`, query, signal),
  comparisonTable: (name: string, query: Query, signal?: AbortSignal) =>
    get<Table>(`comparisons/${part(name)}/table`, query, signal),
  shares: (signal?: AbortSignal) => get<Share[]>("shares", {}, signal),
  share: (token: string, signal?: AbortSignal) => get<Shared>(`shares/${part(token)}`, {}, signal),
  addShare: (request: ShareRequest) => post<Share>("shares", request),
  revokeShare: (token: string) => remove(`shares/${part(token)}`),
  signIn: (token: string) => post<unknown>("sign-in", { token }),
  signOut: () => post<unknown>("sign-out"),
};

export function eventsAddress(run: string, share: string | null): string {
  return address(`runs/${part(run)}/events`, { share });
}

export function exportAddress(run: string, query: Query): string {
  return address(`runs/${part(run)}/export`, query);
}

export function comparisonExport(name: string, query: Query): string {
  return address(`comparisons/${part(name)}/export`, query);
}
