import type { Problem } from "./types";

/** Every failed request becomes one of these: what is wrong, and what the reader can do about it. */
export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "ApiError";
    this.problem = problem;
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

export function offline(): ApiError {
  return new ApiError({
    type: "about:blank",
    title: "No answer",
    status: 0,
    code: "offline",
    detail: "The Headscope server doesn't answer.",
    remedy: "Start it again with `headscope serve`; this page goes on by itself when it is back.",
  });
}

function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null && "detail" in body && typeof body.detail === "string";
}

/** Read a failed response: problem details where the server sent them, an honest sentence where it didn't. */
export async function problemOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  if (isProblem(body)) {
    const known: Partial<Problem> = body;
    return new ApiError({
      type: known.type ?? "about:blank",
      title: known.title ?? `Error ${response.status}`,
      status: response.status,
      code: known.code ?? `http-${response.status}`,
      detail: body.detail,
      remedy: known.remedy ?? "",
    });
  }
  return new ApiError({
    type: "about:blank",
    title: `Error ${response.status}`,
    status: response.status,
    code: `http-${response.status}`,
    detail: `The server answered ${response.status}${response.statusText ? ` (${response.statusText})` : ""} without saying why.`,
    remedy: "Try again; if it stays, the server's log says more.",
  });
}

/** Anything thrown, as an ApiError to show. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError({
    type: "about:blank",
    title: "Unexpected error",
    status: 0,
    code: "unexpected",
    detail: message,
    remedy: "Reload the page; if it stays, please report it with what you did.",
  });
}
