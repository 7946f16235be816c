import type { Problem } from "./types";

/** Every failed request becomes one of these: what is wrong, and what the reader can do about it. */
export class ApiError extends Error {
  constructor(
    readonly problem: Problem,
    /** In how many seconds the server wants to be asked again; null where it doesn't say. */
    readonly retryAfter: number | null = null,
    options?: ErrorOptions,
  ) {
    super(problem.detail, options);
    this.name = "ApiError";
  }

  get code(): string {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }

  /** The server doesn't know this reader: the sign-in page is the remedy. */
  get needsSignIn(): boolean {
    return this.status === 401 || (this.status === 403 && /token|sign-in/.test(this.code));
  }

  get offline(): boolean {
    return this.code === "offline";
  }
}

export function offline(cause?: unknown): ApiError {
  const problem = {
    type: "about:blank",
    title: "No answer",
    status: 0,
    code: "offline",
    detail: "The Headscope server doesn't answer.",
    remedy: "Start it again with `headscope serve`; this page goes on by itself when it is back.",
  };
  return new ApiError(problem, null, { cause });
}

function isProblem(body: unknown): body is Partial<Problem> & Pick<Problem, "detail"> {
  return typeof body === "object" && body !== null && "detail" in body && typeof body.detail === "string";
}

function retryAfterOf({ headers }: Response): number | null {
  const seconds = Number(headers.get("Retry-After") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

/** Read a failed response: problem details where the server sent them, an honest sentence where it didn't. */
export async function problemOf(response: Response): Promise<ApiError> {
  const { status, statusText } = response;
  const body: unknown = await response.json().catch(() => null);
  const known = isProblem(body) ? body : null;
  const problem = {
    type: "about:blank",
    title: `Error ${status}`,
    code: `http-${status}`,
    detail: `The server answered ${status}${statusText ? ` (${statusText})` : ""} without saying why.`,
    remedy: known ? "" : "Try again; if it stays, the server's log says more.",
    ...known,
    status,
  };
  return new ApiError(problem, retryAfterOf(response));
}

/** Anything thrown, as an ApiError to show. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const problem = {
    type: "about:blank",
    title: "Unexpected error",
    status: 0,
    code: "unexpected",
    detail: message,
    remedy: "Reload the page; if it stays, please report it with what you did.",
  };
  return new ApiError(problem, null, { cause: error });
}
