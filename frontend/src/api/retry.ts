// When the page asks again by itself. The reader sees meanwhile why there is no answer.
import type { ApiError } from "./errors";

/** For a worker that isn't there, or isn't there any more; what the server says itself is in `Retry-After`. */
const PAUSE = 3;

/** A question that ends a worker so often is the cause itself: from then on the reader decides. */
const MOST_DEATHS = 2;

/** Any other request is sent so often again. */
const MOST = 3;

const GONE = new Set(["no-worker", "worker-died"]);

/** The server said when to ask again: it is busy, or loads what is asked for. */
export function isAskedBack(failures: number, error: ApiError): boolean {
  return error.retryAfter !== null && failures < MOST;
}

/** In how many ms. */
export function pauseBefore(_: number, error: ApiError): number {
  return (error.retryAfter ?? PAUSE) * 1000;
}

/** For one question to a worker: whether it is asked again after this failure, the first one being number 0. */
export function untilAnswered(): (failures: number, error: ApiError) => boolean {
  let deaths = 0;
  return (failures, error) => {
    if (failures === 0) deaths = 0;
    if (error.code === "worker-died") deaths += 1;
    return (error.retryAfter !== null || GONE.has(error.code)) && deaths <= MOST_DEATHS;
  };
}
