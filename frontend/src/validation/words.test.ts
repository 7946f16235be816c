import { expect, it } from "vitest";
import { area, counted, strict } from "./words";

const whole = { mean: 1, low: 0.8316, high: 1, n: 20 };
const none = { mean: null, low: null, high: null, n: 0 };

it("says a mean with its interval, and a dash where there is none", () => {
  expect(area({ auroc: whole, precision: whole, recall: whole })).toBe("1.000 [0.83, 1.00]");
  expect(area({ auroc: none, precision: none, recall: none })).toBe("–");
  expect(area(undefined)).toBe("–");
});

it("says precision and recall, one of which may be missing", () => {
  const recall = { ...whole, mean: 0.6667 };
  expect(strict({ auroc: whole, precision: none, recall })).toBe("– / 0.667");
  expect(strict({ auroc: none, precision: none, recall: none })).toBe("");
});

it("counts draws", () => {
  expect(counted({ draws: 20, counted: 20 })).toBe("20");
  expect(counted({ draws: 20, counted: 18 })).toBe("18 of 20");
});
