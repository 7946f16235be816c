// The network as a test plays it: an answer for each route. What was asked is kept; all above `fetch` is real.
import { afterEach, expect, vi } from "vitest";
import type { Problem } from "../api/types";

export interface Asked {
  /** "GET /api/v1/runs" */
  route: string;
  path: string;
  query: URLSearchParams;
  /** Parsed JSON, or the form that was sent. */
  body: Record<string, unknown> & FormData;
}

/** JSON to answer with, or what makes it from the question: JSON, a response, a promise of either. */
export type Answer = unknown | ((asked: Asked) => unknown);

/** By method and path; `*` stands for one part of a path. */
export type Routes = Record<string, Answer>;

export interface Network {
  /** What was asked so far, of one route where it is named. */
  asked: (route?: string) => Asked[];
  /** Answer otherwise from now on. */
  answer: (routes: Routes) => void;
}

const PALETTE = { panel: "#ffffff", line: "#dddddd", ink: "#111111", needed: "#1f77b4" };
const DARK_PALETTE = { panel: "#1b1e24", line: "#42464f", ink: "#eeeeee", needed: "#58a6e0" };

const ALWAYS: Routes = {
  "GET /api/v1/health": { status: "ok" },
  "GET /api/v1/theme": {
    light: { template: { name: "light" }, palette: PALETTE },
    dark: { template: { name: "dark" }, palette: DARK_PALETTE },
  },
};

let unplayed: string[] = [];

afterEach(() => {
  vi.unstubAllGlobals();
  const missing = unplayed;
  unplayed = [];
  expect(missing, "asked of the network, but not played").toEqual([]);
});

function fits(pattern: string, route: string): boolean {
  const [parts, asked] = [pattern.split("/"), route.split("/")];
  return parts.length === asked.length && parts.every((part, i) => part === "*" || part === asked[i]);
}

/** The route itself, else the pattern named last. */
function playedFor(routes: Routes, route: string): { answer: Answer } | undefined {
  const name = route in routes ? route : Object.keys(routes).findLast((pattern) => fits(pattern, route));
  return name === undefined ? undefined : { answer: routes[name] };
}

async function bodyOf(request: Request): Promise<unknown> {
  if (request.headers.get("Content-Type")?.startsWith("multipart/")) return request.formData();
  const text = await request.text();
  return text === "" ? {} : JSON.parse(text);
}

function responseOf(answer: unknown): Response {
  if (answer instanceof Response) return answer;
  if (answer === null) return new Response(null, { status: 204 });
  return new Response(JSON.stringify(answer), { headers: { "Content-Type": "application/json" } });
}

/** Play the network for this test. */
export function answering(routes: Routes): Network {
  let played = { ...ALWAYS, ...routes };
  const all: Asked[] = [];
  const answer = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const route = `${request.method} ${decodeURIComponent(url.pathname)}`;
    const found = playedFor(played, route);
    if (!found) {
      unplayed.push(route);
      return problem(404, { code: "not-played", detail: `${route} isn't played.` })();
    }
    const path = decodeURIComponent(url.pathname);
    const asked = { route, path, query: url.searchParams, body: (await bodyOf(request)) as Asked["body"] };
    all.push(asked);
    return responseOf(typeof found.answer === "function" ? await found.answer(asked) : found.answer);
  };
  vi.stubGlobal("fetch", (input: string | Request, init?: RequestInit) => {
    const request =
      input instanceof Request ? input : new Request(new URL(input, window.location.origin), init);
    const aborted = new Promise<never>((_, reject) => {
      request.signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    });
    return Promise.race([answer(request), aborted]);
  });
  return {
    asked: (route) => (route ? all.filter((one) => fits(route, one.route)) : all),
    answer: (more) => {
      played = { ...played, ...more };
    },
  };
}

/** A failure as the server words it. */
export function problem(status: number, { code, detail, remedy }: Partial<Problem>): () => Response {
  const body = { type: "about:blank", title: `Error ${status}`, status, code, detail, remedy: remedy ?? "" };
  return () =>
    new Response(JSON.stringify(body), {
      status,
      headers: { "Content-Type": "application/problem+json" },
    });
}

/** An answer that the test gives when it likes. */
export function later(): { answer: () => Promise<unknown>; give: (answer: unknown) => void } {
  let give: (answer: unknown) => void = () => {};
  const promise = new Promise<unknown>((resolve) => {
    give = resolve;
  });
  return { answer: () => promise, give: (answer) => give(answer) };
}
