// @vitest-environment jsdom
import { renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useAskAgain } from "./askAgain";
import { ApiError } from "./errors";

const failed = (code: string) =>
  new ApiError({ type: "about:blank", title: "", status: 503, code, detail: "", remedy: "" });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("asks again while a worker comes back, and stops once there is an answer", () => {
  const reload = vi.fn();
  const { rerender } = renderHook(({ error }) => useAskAgain(error, reload), {
    initialProps: { error: failed("worker-died") as ApiError | undefined },
  });
  vi.advanceTimersByTime(3100);
  rerender({ error: failed("no-worker") });
  vi.advanceTimersByTime(3100);
  expect(reload).toHaveBeenCalledTimes(2);
  rerender({ error: undefined });
  vi.advanceTimersByTime(9000);
  expect(reload).toHaveBeenCalledTimes(2);
});

it("leaves it to the reader where the question itself ends the worker, again and again", () => {
  const reload = vi.fn();
  const { rerender } = renderHook(({ error }) => useAskAgain(error, reload), {
    initialProps: { error: failed("worker-died") },
  });
  for (let death = 0; death < 5; death += 1) {
    vi.advanceTimersByTime(3100);
    rerender({ error: failed("no-worker") });
    rerender({ error: failed("worker-died") });
  }
  vi.advanceTimersByTime(30_000);
  expect(reload).toHaveBeenCalledTimes(2);
});

it("never asks again for a fault that stays", () => {
  const reload = vi.fn();
  renderHook(() => useAskAgain(failed("too-long"), reload));
  vi.advanceTimersByTime(30_000);
  expect(reload).not.toHaveBeenCalled();
});
