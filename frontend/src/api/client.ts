// What a page asks the server to do: one function a route. What it only reads are the queries of `queries.ts`.
import { addressOf, answered, http, multipart } from "./http";
import type { RunRequest, ShareRequest } from "./types";

export const api = {
  tryConfig: (config: string) => answered(http.POST("/api/v1/models/try", { body: { config, model: "" } })),
  addTask: (form: FormData) => answered(http.POST("/api/v1/tasks", multipart(form))),
  deleteTask: (name: string) => answered(http.DELETE("/api/v1/tasks/{name}", { params: { path: { name } } })),
  checkModel: (name: string, anew: boolean) =>
    answered(
      http.POST("/api/v1/models/{name}/check", { params: { path: { name }, query: { anew, wait: 60 } } }),
    ),
  startRun: (body: RunRequest) => answered(http.POST("/api/v1/runs", { body })),
  deleteRun: (run_id: string) =>
    answered(http.DELETE("/api/v1/runs/{run_id}", { params: { path: { run_id } } })),
  cancelRun: (run_id: string) =>
    answered(http.POST("/api/v1/runs/{run_id}/cancel", { params: { path: { run_id } } })),
  reproduceRun: (run_id: string) =>
    answered(http.POST("/api/v1/runs/{run_id}/reproduce", { params: { path: { run_id } } })),
  addShare: (body: ShareRequest) => answered(http.POST("/api/v1/shares", { body })),
  revokeShare: (token: string) =>
    answered(http.DELETE("/api/v1/shares/{token}", { params: { path: { token } } })),
  signIn: (token: string) => answered(http.POST("/api/v1/sign-in", { body: { token } })),
  signOut: () => answered(http.POST("/api/v1/sign-out")),
};

export function eventsAddress(run_id: string, share: string | null): string {
  return addressOf("/api/v1/runs/{run_id}/events", { path: { run_id }, query: { share } });
}
