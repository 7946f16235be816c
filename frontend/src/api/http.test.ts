// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { api } from "./client";
import { connection, reportSignedIn } from "./connection";
import { ApiError, asApiError } from "./errors";
import { addressOf, answered, http } from "./http";

// The network is played; the code that meets it is the real one.
const network = vi.fn<(request: Request) => Promise<Response>>();
const models = (signal?: AbortSignal) => answered(http.GET("/api/v1/models", { signal }));

function answer(status: number, body: unknown, type = "application/problem+json"): Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(status === 204 ? null : text, { status, headers: { "Content-Type": type } });
}

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

beforeEach(() => {
  vi.stubGlobal("fetch", network);
  network.mockReset();
  reportSignedIn();
});
afterEach(() => vi.unstubAllGlobals());

describe("a request", () => {
  it("is addressed without what has no value, and with several of a name one by one", async () => {
    network.mockImplementation(async () => answer(200, { runs: [], total: 0 }, "application/json"));
    const query = { model: "a/b", task: null, status: undefined, limit: 5 };
    await answered(http.GET("/api/v1/runs", { params: { query } }));
    expect(new URL(network.mock.calls[0]?.[0].url ?? "").search).toBe("?model=a%2Fb&limit=5");
    expect(
      addressOf("/api/v1/comparisons/{name}/export", {
        path: { name: "shares" },
        query: { format: "csv", run: ["a", "b"], share: null },
      }),
    ).toBe("/api/v1/comparisons/shares/export?format=csv&run=a&run=b");
  });

  it("sends JSON and reads it", async () => {
    network.mockResolvedValue(answer(202, { id: "3f9c" }, "application/json"));
    expect(await api.startRun({ model: "m", task: "t" })).toEqual({ id: "3f9c" });
    const request = network.mock.calls[0]?.[0];
    expect([request?.method, new URL(request?.url ?? "").pathname]).toEqual(["POST", "/api/v1/runs"]);
    expect(request?.headers.get("Content-Type")).toBe("application/json");
    expect(await request?.json()).toEqual({ model: "m", task: "t" });
  });

  it("sends a form as it is", async () => {
    network.mockResolvedValue(answer(201, { name: "t" }, "application/json"));
    const form = new FormData();
    form.append("name", "t");
    await api.addTask(form);
    const { headers } = network.mock.calls[0]?.[0] ?? new Request("http://localhost");
    expect(headers.get("Content-Type")).not.toBe("application/json");
    expect(headers.get("X-Headscope-Reader")).toBe("page");
  });

  it("may have no answer to read", async () => {
    network.mockResolvedValue(answer(204, ""));
    expect(await api.deleteRun("3f9c")).toBeUndefined();
  });
});

describe("a failure", () => {
  it("brings its problem and its remedy", async () => {
    const problem = {
      type: "about:blank",
      title: "Not Found",
      status: 404,
      code: "unknown-run",
      detail: "There is no run x.",
      remedy: "See all runs.",
    };
    network.mockResolvedValue(answer(404, problem));
    const error = await failure(
      answered(http.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: "x" } } })),
    );
    expect(error.problem).toEqual(problem);
    expect([error.code, error.status, error.needsSignIn]).toEqual(["unknown-run", 404, false]);
    expect(error.retryAfter).toBeNull();
  });

  it("says when the server wants to be asked again", async () => {
    const busy = answer(503, { code: "worker-busy", detail: "32 wait.", remedy: "" });
    busy.headers.set("Retry-After", "2");
    network.mockResolvedValue(busy);
    expect((await failure(models())).retryAfter).toBe(2);
  });

  it("to read what came is told, too", async () => {
    network.mockResolvedValue(answer(200, "<html>", "text/html"));
    expect((await failure(models())).code).toBe("unexpected");
  });

  it("without problem details still is a sentence", async () => {
    network.mockResolvedValue(answer(500, "<html>oops", "text/html"));
    const error = await failure(models());
    expect(error.problem.detail).toMatch(/answered 500/);
    expect(error.problem.remedy).not.toBe("");
  });

  it.each([502, 504])("of a proxy (%s) means that the server is gone", async (status) => {
    network.mockResolvedValue(answer(status, "bad gateway", "text/plain"));
    expect((await failure(models())).offline).toBe(true);
  });

  it("to answer at all is offline, until the next answer", async () => {
    network.mockRejectedValueOnce(new TypeError("Failed to fetch"));
    const before = connection().returns;
    const error = await failure(models());
    expect(error.problem.remedy).toContain("headscope serve");
    expect(connection().online).toBe(false);
    network.mockResolvedValue(answer(200, [], "application/json"));
    await models();
    expect(connection()).toMatchObject({ online: true, returns: before + 1 });
  });

  it("for want of a token asks to sign in, a wrong token at the door doesn't", async () => {
    const problem = {
      title: "Unauthorized",
      status: 401,
      code: "wrong-token",
      detail: "The access token is wrong.",
      remedy: "",
    };
    network.mockImplementation(async () => answer(401, problem));
    await failure(api.signIn("guess"));
    expect(connection().signedOut).toBe(false);
    await failure(models());
    expect(connection().signedOut).toBe(true);
  });

  it("that was asked for is no silence", async () => {
    const controller = new AbortController();
    network.mockImplementation(async () => {
      controller.abort();
      throw new DOMException("aborted", "AbortError");
    });
    await expect(models(controller.signal)).rejects.toThrow("aborted");
    expect(connection().online).toBe(true);
  });

  it("of any kind can be shown", () => {
    expect(asApiError(new Error("x is undefined")).problem.detail).toBe("x is undefined");
    expect(asApiError("odd").problem.detail).toBe("odd");
  });
});
