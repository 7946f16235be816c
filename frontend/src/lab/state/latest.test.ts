// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { asApiError } from "../../api/errors";
import { labApi } from "../../api/lab";
import type { GatesOut } from "../../api/labTypes";
import { Latest } from "./latest";

type Question = Parameters<typeof labApi.gates>[0];

// The network is played: each request waits until the test answers it. Client and queue are the real ones.
interface Flight {
  top: number;
  answer: (body: unknown, status?: number) => void;
  silence: () => void;
  signal: AbortSignal;
}

let flights: Flight[] = [];

async function network(request: Request): Promise<Response> {
  const { signal } = request;
  const { top } = (await request.json()) as { top: number };
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    flights.push({
      top,
      signal,
      answer: (body, status = 200) => resolve(new Response(JSON.stringify(body), { status })),
      silence: () => reject(new TypeError("Failed to fetch")),
    });
  });
}

/** Long enough for promises to settle. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

function board() {
  const heard: [string, number][] = [];
  const busy: boolean[] = [];
  const latest = new Latest<Question, GatesOut>((input, signal) => labApi.gates(input, signal), {
    onAnswer: (answer, input) => heard.push([`kl ${answer.kl}`, input.top ?? 0]),
    onError: (error, input) => heard.push([asApiError(error).code, input.top ?? 0]),
    onBusy: (now) => busy.push(now),
  });
  const want = (top: number) => latest.want({ model: "m", text: "a", gates: [[1]], top });
  return { latest, want, heard, busy };
}

beforeEach(() => {
  flights = [];
  vi.stubGlobal("fetch", network);
});
afterEach(() => vi.unstubAllGlobals());

describe("a fast drag", () => {
  it("has one request on its way, and the newest goes next", async () => {
    const { want, heard, busy } = board();
    for (let top = 1; top <= 50; top += 1) want(top);
    await settled();
    expect(flights.map(({ top }) => top)).toEqual([1]);
    flights[0]?.answer({ kl: 0.1 });
    await settled();
    expect(flights.map(({ top }) => top)).toEqual([1, 50]);
    flights[1]?.answer({ kl: 0.5 });
    await settled();
    expect(heard).toEqual([
      ["kl 0.1", 1],
      ["kl 0.5", 50],
    ]);
    expect(flights).toHaveLength(2);
    expect(busy).toEqual([true, false]);
  });

  it("hears answers in the order of the hand, each newer than the last", async () => {
    const { want, heard } = board();
    for (let top = 1; top <= 9; top += 1) {
      want(top);
      if (top % 3 === 0) {
        flights.at(-1)?.answer({ kl: top });
        await settled();
      }
    }
    flights.at(-1)?.answer({ kl: 9 });
    await settled();
    const order = heard.map(([, top]) => top);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order.at(-1)).toBe(9);
  });
});

describe("another prompt", () => {
  it("takes back the request on its way; its answer is never shown", async () => {
    const { latest, want, heard } = board();
    want(1);
    await settled();
    latest.drop();
    want(2);
    await settled();
    expect(flights[0]?.signal.aborted).toBe(true);
    flights[0]?.answer({ kl: 1 });
    flights[1]?.answer({ kl: 2 });
    await settled();
    expect(heard).toEqual([["kl 2", 2]]);
  });

  it("forgets what waited", async () => {
    const { latest, want } = board();
    want(1);
    want(2);
    latest.drop();
    await settled();
    expect(flights.map(({ top }) => top)).toEqual([1]);
  });
});

describe("a failure", () => {
  it("is heard, and the next change asks again", async () => {
    const { want, heard, busy } = board();
    want(1);
    await settled();
    flights[0]?.answer({ detail: "No worker is alive.", code: "no-worker", remedy: "Start one." }, 503);
    await settled();
    want(2);
    await settled();
    flights[1]?.answer({ kl: 2 });
    await settled();
    expect(heard).toEqual([
      ["no-worker", 1],
      ["kl 2", 2],
    ]);
    expect(busy).toEqual([true, false, true, false]);
  });

  it("of an outdated request is not shown", async () => {
    const { want, heard } = board();
    want(1);
    want(2);
    await settled();
    flights[0]?.silence();
    await settled();
    flights[1]?.answer({ kl: 2 });
    await settled();
    expect(heard).toEqual([["kl 2", 2]]);
  });

  it("for want of a worker is asked again by itself, unless another question came first", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { want, heard } = board();
      want(1);
      await vi.advanceTimersByTimeAsync(5);
      flights[0]?.answer({ code: "no-worker", detail: "None." }, 503);
      await vi.advanceTimersByTimeAsync(2900);
      expect(flights).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(200);
      expect(flights.map(({ top }) => top)).toEqual([1, 1]);
      flights[1]?.answer({ code: "no-worker", detail: "None." }, 503);
      await vi.advanceTimersByTimeAsync(5);
      want(2);
      await vi.advanceTimersByTimeAsync(5);
      flights[2]?.answer({ kl: 2 });
      await vi.advanceTimersByTimeAsync(9000);
      expect(flights.map(({ top }) => top)).toEqual([1, 1, 2]);
      expect(heard.at(-1)).toEqual(["kl 2", 2]);
    } finally {
      vi.useRealTimers();
    }
  });
});
