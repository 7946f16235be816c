import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { address, api } from "./client";
import { connection, reportSignedIn } from "./connection";
import { ApiError, asApiError } from "./errors";

// The network is played; the code that meets it is the real one.
const network = vi.fn<typeof fetch>();

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
  it("is addressed without what has no value", () => {
    expect(address("runs", { model: "a/b", task: null, status: undefined, limit: 5 })).toBe(
      "/api/v1/runs?model=a%2Fb&limit=5",
    );
  });

  it("sends JSON and reads it", async () => {
    network.mockResolvedValue(answer(202, { id: "3f9c" }, "application/json"));
    expect(await api.startRun({ model: "m", task: "t" })).toEqual({ id: "3f9c" });
    const [url, options] = network.mock.calls[0] ?? [];
    expect(url).toBe("/api/v1/runs");
    expect(options).toMatchObject({
      method: "POST",
      body: '{"model":"m","task":"t"}',
      headers: { "Content-Type": "application/json" },
    });
  });

  it("may have no answer to read", async () => {
    network.mockResolvedValue(answer(204, ""));
    expect(await api.deleteRun("3f9c")).toBeNull();
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
    const error = await failure(api.run("x", null));
    expect(error.problem).toEqual(problem);
    expect([error.code, error.status, error.needsSignIn]).toEqual(["unknown-run", 404, false]);
  });

  it("without problem details still is a sentence", async () => {
    network.mockResolvedValue(answer(500, "<html>oops", "text/html"));
    const error = await failure(api.models());
    expect(error.problem.detail).toMatch(/answered 500/);
    expect(error.problem.remedy).not.toBe("");
  });

  it.each([502, 504])("of a proxy (%s) means that the server is gone", async (status) => {
    network.mockResolvedValue(answer(status, "bad gateway", "text/plain"));
    expect((await failure(api.models())).offline).toBe(true);
  });

  it("to answer at all is offline, until the next answer", async () => {
    network.mockRejectedValueOnce(new TypeError("Failed to fetch"));
    const before = connection().returns;
    const error = await failure(api.models());
    expect(error.problem.remedy).toContain("headscope serve");
    expect(connection().online).toBe(false);
    network.mockResolvedValue(answer(200, [], "application/json"));
    await api.models();
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
    await failure(api.models());
    expect(connection().signedOut).toBe(true);
  });

  it("that was asked for is no silence", async () => {
    const controller = new AbortController();
    network.mockImplementation(async () => {
      controller.abort();
      throw new DOMException("aborted", "AbortError");
    });
    await expect(api.models(controller.signal)).rejects.toThrow("aborted");
    expect(connection().online).toBe(true);
  });

  it("of any kind can be shown", () => {
    expect(asApiError(new Error("x is undefined")).problem.detail).toBe("x is undefined");
    expect(asApiError("odd").problem.detail).toBe("odd");
  });
});
