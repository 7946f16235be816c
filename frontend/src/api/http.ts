// The network: requests typed by the server's OpenAPI. Any of them may fail; each failure is an ApiError.
import createClient, { createFinalURL, createQuerySerializer, defaultPathSerializer } from "openapi-fetch";
import { reportAnswer, reportSignedOut, reportSilence } from "./connection";
import { asApiError, offline, problemOf } from "./errors";
import type { paths } from "./schema";

const SIGN_IN = "/api/v1/sign-in";

export const http = createClient<paths>({
  baseUrl: globalThis.location?.origin,
  // What to do about an error is said in this page's own ways, not in the API's.
  headers: { "X-Headscope-Reader": "page" },
  // Looked up when it is called: a test plays the network.
  fetch: (request) => fetch(request),
});

http.use({
  onError({ request, error }) {
    if (request.signal.aborted) return undefined;
    reportSilence();
    return offline(error);
  },
  async onResponse({ request, response, schemaPath }) {
    // A proxy in front answers for a server that is gone.
    if (response.status === 502 || response.status === 504) {
      reportSilence();
      throw offline();
    }
    reportAnswer();
    if (response.ok || request.signal.aborted) return undefined;
    const error = await problemOf(response);
    if (error.needsSignIn && schemaPath !== SIGN_IN) reportSignedOut();
    throw error;
  },
});

/** What a request answers; undefined where there is nothing to read. Throws an `ApiError`, or what an abort throws. */
export async function answered<T>(request: Promise<{ data?: T }>): Promise<T> {
  try {
    // Every other status than success has thrown by now.
    return (await request).data as T;
  } catch (thrown) {
    throw isAbort(thrown) ? thrown : asApiError(thrown);
  }
}

function isAbort(thrown: unknown): boolean {
  return typeof thrown === "object" && thrown !== null && "name" in thrown && thrown.name === "AbortError";
}

/** A form as the body of a request: OpenAPI knows a file as a string, the browser as a `File`. */
export function multipart(form: FormData) {
  return { body: form as never };
}

type Readable = {
  [Path in keyof paths]: paths[Path] extends { get: { parameters: object } } ? Path : never;
}[keyof paths];
type Parameters<Path extends Readable> = paths[Path] extends { get: { parameters: infer P } }
  ? Pick<P, keyof P & ("path" | "query")>
  : never;

const querySerializer = createQuerySerializer();

/** The address of what a link downloads or a stream reads. */
export function addressOf<Path extends Readable>(path: Path, params: Parameters<Path>): string {
  return createFinalURL(path, {
    baseUrl: "",
    params: params as { path?: Record<string, unknown>; query?: Record<string, unknown> },
    querySerializer,
    pathSerializer: defaultPathSerializer,
  });
}
