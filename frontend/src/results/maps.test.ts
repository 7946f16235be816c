import { expect, it } from "vitest";
import type { Run } from "../api/types";
import { mapOf } from "./maps";

function run(id: string, model: string, task: string, more: Partial<Run> = {}): Run {
  const [n_layers, n_heads] = model === "large" ? [30, 9] : [2, 8];
  return {
    id,
    model,
    task,
    seeds: [0, 1, 2],
    origin: "local",
    created_at: "2026-01-01T00:00:00Z",
    finished_at: "2026-01-01T00:00:00Z",
    model_info: { n_layers, n_heads },
    params: {},
    ...more,
  } as Run;
}

it("a pair's map is the shipped run, else the one with most seeds, else the newest", () => {
  const pair = { model: "small", task: "plural" };
  const ten = run("ten", "small", "plural", { seeds: Array(10).fill(0) });
  const old = run("old", "small", "plural");
  const young = run("young", "small", "plural", { finished_at: "2026-02-01T00:00:00Z" });
  const shipped = run("shipped", "small", "plural", { origin: "gallery" });
  expect(mapOf(pair, [old, ten, young, shipped])?.id).toBe("shipped");
  expect(mapOf(pair, [old, ten, young])?.id).toBe("ten");
  expect(mapOf(pair, [old, young])?.id).toBe("young");
  expect(mapOf({ ...pair, task: "other" }, [old])).toBeUndefined();
  const byMean = run("mean", "small", "plural", { seeds: Array(20).fill(0), params: { ablation: "mean" } });
  expect(mapOf(pair, [byMean, old])?.id).toBe("old");
  expect(mapOf(pair, [byMean])?.id).toBe("mean");
});
