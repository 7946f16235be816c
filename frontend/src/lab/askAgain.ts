// A worker that starts, or loads a model, is soon there: the page asks again by itself.
import type { ApiError } from "../api/errors";
import { useInterval } from "../api/resource";

const PAUSE = 3000;

export function passes(error: ApiError | undefined): boolean {
  return error !== undefined && ["no-worker", "model-loading", "worker-busy"].includes(error.code);
}

export function useAskAgain(error: ApiError | undefined, reload: () => void): void {
  useInterval(reload, PAUSE, passes(error));
}
