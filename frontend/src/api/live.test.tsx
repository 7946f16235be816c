// @vitest-environment jsdom
import { act, renderHook, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { answering } from "../testing/network";
import { run } from "../testing/samples";
import { useRun } from "./live";
import { Queries } from "./query";

// The browser's stream is played: the test sends its events.
let streams: EventTarget[] = [];
let closed = 0;
class Stream extends EventTarget {
  constructor(readonly url: string) {
    super();
    streams.push(this);
  }
  close() {
    closed += 1;
  }
}
const send = (name: string, data?: unknown) =>
  act(() => void streams.at(-1)?.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) })));

beforeEach(() => {
  streams = [];
  closed = 0;
  vi.stubGlobal("EventSource", Stream);
});
afterEach(() => void vi.useRealTimers());

const moving = run({ status: "running", result: null });
const route = "GET /api/v1/runs/r1";
const watch = () => renderHook(() => useRun("r1"), { wrapper: Queries }).result;

it("follows a run's events until it is done", async () => {
  const network = answering({ [route]: moving });
  const live = watch();
  await waitFor(() => expect(live.current.data?.status).toBe("running"));
  send("open");
  send("run", run({ status: "done" }));
  await waitFor(() => expect(live.current.data?.status).toBe("done"));
  expect(closed).toBe(1);
  expect(network.asked(route)).toHaveLength(1);
});

it("asks every three seconds where the stream is broken, and no longer than the run moves", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const network = answering({ [route]: moving });
  const live = watch();
  await waitFor(() => expect(live.current.data).toBeTruthy());
  send("error");
  network.answer({ [route]: run() });
  await act(() => vi.advanceTimersByTimeAsync(3100));
  await waitFor(() => expect(live.current.data?.status).toBe("done"));
  const asked = network.asked(route).length;
  await act(() => vi.advanceTimersByTimeAsync(9000));
  expect(network.asked(route)).toHaveLength(asked);
});

it("shows at once what another request answered", async () => {
  answering({ [route]: moving });
  const live = watch();
  await waitFor(() => expect(live.current.data).toBeTruthy());
  act(() => live.current.set(run({ status: "cancelled" })));
  await waitFor(() => expect(live.current.data?.status).toBe("cancelled"));
});
