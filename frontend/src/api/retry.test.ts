import { expect, it } from "vitest";
import { ApiError } from "./errors";
import { isAskedBack, pauseBefore, untilAnswered } from "./retry";

const failed = (code: string, retryAfter: number | null = null) =>
  new ApiError({ type: "about:blank", title: "", status: 503, code, detail: "", remedy: "" }, retryAfter);

it("a request is sent again where the server says when, three times at most", () => {
  expect([0, 1, 2, 3].map((failures) => isAskedBack(failures, failed("worker-busy", 2)))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(isAskedBack(0, failed("database-locked"))).toBe(false);
  expect(pauseBefore(0, failed("worker-busy", 2))).toBe(2000);
});

it("a worker is asked for as long as one starts, comes back or loads the model", () => {
  const again = untilAnswered();
  const failures = [
    ...Array(9).fill(failed("no-worker")),
    failed("model-loading", 2),
    failed("worker-died"),
    failed("no-worker"),
  ];
  expect(failures.every((error, i) => again(i, error))).toBe(true);
  expect(pauseBefore(0, failed("no-worker"))).toBe(3000);
});

it("the reader decides where the question itself ends the worker, again and again", () => {
  const again = untilAnswered();
  const codes = ["worker-died", "no-worker", "worker-died", "no-worker", "worker-died"];
  expect(codes.map((code, i) => again(i, failed(code)))).toEqual([true, true, true, true, false]);
  expect(again(0, failed("worker-died"))).toBe(true); // another question
});

it("a fault that stays is never asked about again", () => {
  expect(untilAnswered()(0, failed("too-long"))).toBe(false);
});
