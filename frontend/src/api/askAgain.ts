// A worker that starts, comes back or loads a model is soon there: the page asks again by itself.
import { useRef } from "react";
import type { ApiError } from "./errors";
import { useInterval } from "./resource";

const PAUSE = 3000;

/** A question that ends a worker so often is the cause itself: from then on the reader decides. */
const MOST_DEATHS = 2;

export function passes(error: ApiError | undefined): boolean {
  return (
    error !== undefined && ["no-worker", "model-loading", "worker-busy", "worker-died"].includes(error.code)
  );
}

export function useAskAgain(error: ApiError | undefined, reload: () => void): void {
  const seen = useRef<{ last: ApiError | undefined; deaths: number }>({ last: undefined, deaths: 0 });
  if (seen.current.last !== error) {
    const { deaths } = seen.current;
    seen.current = {
      last: error,
      deaths: error === undefined ? 0 : deaths + (error.code === "worker-died" ? 1 : 0),
    };
  }
  useInterval(reload, PAUSE, passes(error) && seen.current.deaths <= MOST_DEATHS);
}
