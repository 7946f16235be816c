// @vitest-environment jsdom
import { focusManager, useQuery } from "@tanstack/react-query";
import { act, cleanup, render, renderHook, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { circuitQueries } from "./circuits";
import { connection } from "./connection";
import { queries } from "./queries";
import { Queries, useWorkerQuery } from "./query";

// The network is played: it counts what it is asked, and answers as each test says.
const run = { id: "r", result: "first" };
let asked: string[] = [];
let aborted = 0;
let answer: (path: string) => Response | Promise<Response>;

const json = (body: unknown, status = 200, headers = {}) =>
  new Response(JSON.stringify(body), { status, headers });
const problem = (code: string, headers = {}) =>
  json({ status: 503, code, detail: `It is ${code}.`, remedy: "" }, 503, headers);
const figure = (title: string) => json({ data: [], layout: { meta: { title } } });

function network(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  asked.push(pathname.replace("/api/v1/", "") + search);
  request.signal.addEventListener("abort", () => {
    aborted += 1;
  });
  return Promise.resolve(answer(asked.at(-1) ?? ""));
}

beforeEach(() => {
  asked = [];
  aborted = 0;
  vi.stubGlobal("fetch", network);
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  focusManager.setFocused(undefined);
});

function refocus() {
  act(() => focusManager.setFocused(false));
  act(() => focusManager.setFocused(true));
}

function Card({ name = "roles", threshold }: { name?: string; threshold?: number }) {
  const { data } = useQuery(queries.figure(run, name, { threshold }));
  return <p>{data?.layout.meta?.title ?? "nothing yet"}</p>;
}

describe("one cache", () => {
  it("sends one request for four cards with one key, and none for a fifth that comes later", async () => {
    answer = () => figure("Roles");
    const cards = (n: number) => Array.from({ length: n }, (_, i) => <Card key={i} />);
    const { rerender } = render(<div>{cards(4)}</div>, { wrapper: Queries });
    await waitFor(() => expect(screen.getAllByText("Roles")).toHaveLength(4));
    rerender(<div>{cards(5)}</div>);
    expect(screen.getAllByText("Roles")).toHaveLength(5);
    expect(asked).toEqual(["runs/r/figures/roles"]);
  });

  it("knows another result of the same run as another", async () => {
    answer = () => figure("Roles");
    const { rerender } = renderHook(({ result }) => useQuery(queries.table({ ...run, result }, "roles")), {
      wrapper: Queries,
      initialProps: { result: "first" },
    });
    await waitFor(() => expect(asked).toHaveLength(1));
    rerender({ result: "second" });
    await waitFor(() => expect(asked).toHaveLength(2));
  });

  it("keeps a figure until the next one of its name is there, and no other's", async () => {
    let later = (_: Response) => {};
    answer = (path) =>
      path.includes("threshold")
        ? new Promise((resolve) => {
            later = resolve;
          })
        : figure("At 0.5");
    const { rerender } = render(<Card />, { wrapper: Queries });
    await screen.findByText("At 0.5");
    rerender(<Card threshold={0.7} />);
    expect(screen.getByText("At 0.5")).toBeTruthy();
    await act(async () => later(figure("At 0.7")));
    await screen.findByText("At 0.7");
    rerender(<Card name="ecdf" threshold={0.9} />);
    expect(screen.getByText("nothing yet")).toBeTruthy();
  });

  it("takes back what nobody waits for any more", async () => {
    answer = () => new Promise(() => {});
    const { unmount } = render(<Card />, { wrapper: Queries });
    await waitFor(() => expect(asked).toHaveLength(1));
    unmount();
    expect(aborted).toBe(1);
  });
});

describe("a reader who comes back to the page", () => {
  it("sees lists anew; what never changes isn't asked for again", async () => {
    answer = (path) => (path === "models" ? json([]) : figure("Roles"));
    renderHook(() => [useQuery(queries.models()), useQuery(queries.figure(run, "roles"))], {
      wrapper: Queries,
    });
    await waitFor(() => expect(asked).toHaveLength(2));
    refocus();
    await waitFor(() => expect(asked.slice(2)).toEqual(["models"]));
  });

  it("finds a problem as it was", async () => {
    answer = () => problem("database-down");
    const { result } = renderHook(() => useQuery(queries.models()), { wrapper: Queries });
    await waitFor(() => expect(result.current.error?.code).toBe("database-down"));
    refocus();
    expect(asked).toEqual(["models"]);
  });
});

describe("a failure", () => {
  it("is tried again when the server says so", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    answer = () => (asked.length === 1 ? problem("worker-busy", { "Retry-After": "2" }) : json([]));
    const { result } = renderHook(() => useQuery(queries.models()), { wrapper: Queries });
    await act(() => vi.advanceTimersByTimeAsync(1900));
    expect(asked).toHaveLength(1);
    await act(() => vi.advanceTimersByTimeAsync(200));
    expect(asked).toHaveLength(2);
    await waitFor(() => expect(result.current.data).toEqual([]));
  });

  it("of a server that is gone ends when it is back: what failed and what changes load again", async () => {
    answer = (path) => (path === "analyses" ? json([]) : Promise.reject(new TypeError("Failed to fetch")));
    const { result } = renderHook(() => [useQuery(queries.analyses()), useQuery(queries.models())] as const, {
      wrapper: Queries,
    });
    await waitFor(() => expect(result.current[1].error?.offline).toBe(true));
    answer = () => json([]);
    await act(async () => void (await result.current[1].refetch()));
    expect(connection().online).toBe(true);
    await waitFor(() => expect(asked.filter((path) => path === "models").length).toBeGreaterThan(1));
    expect(asked.filter((path) => path === "analyses")).toHaveLength(1);
  });

  it("of a worker is said while it is asked again", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    answer = () => problem("no-worker");
    const { result } = renderHook(() => useWorkerQuery(circuitQueries.tokens("m", "the")), {
      wrapper: Queries,
    });
    await waitFor(() => expect(result.current.error?.code).toBe("no-worker"));
    expect(result.current.isLoading).toBe(false);
    answer = () => json({ spelled: [], containing: [], n_containing: 0 });
    await act(() => vi.advanceTimersByTimeAsync(3100));
    await waitFor(() => expect(result.current.data).toBeTruthy());
    expect(result.current.error).toBeNull();
  });
});
