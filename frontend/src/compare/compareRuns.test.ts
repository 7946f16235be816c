import { describe, expect, it } from "vitest";
import type { Run } from "../api/types";
import { choicesOf, modelsOf, proposed, suggestions, toggled } from "./compareRuns";

function run(id: string, model: string, task: string, seeds = 3): Run {
  const finished_at = "2026-01-05T10:00:00Z";
  return {
    id,
    model,
    model_title: model,
    task,
    task_title: task,
    params: {},
    seeds: Array(seeds).fill(0),
    origin: "local",
    finished_at,
  } as unknown as Run;
}

const RUNS = [
  run("a", "small", "copy"),
  run("b", "large", "copy"),
  run("c", "large", "plural"),
  run("d", "large", "plural", 10),
];

describe("the runs of a comparison", () => {
  it("are the best of each model and task; the others are kept apart", () => {
    expect(
      choicesOf(RUNS).map(({ model, best, others }) => [
        model,
        best.map(({ id }) => id),
        others.map(({ id }) => id),
      ]),
    ).toEqual([
      ["small", ["a"], []],
      ["large", ["b", "d"], ["c"]],
    ]);
  });

  it("are proposed of all models, and of one where heads must match", () => {
    expect(proposed("shares", RUNS)).toEqual(["a", "b", "d"]);
    expect(proposed("overlap", RUNS)).toEqual(["b", "d"]);
    expect(proposed("overlap", [])).toEqual([]);
  });

  it("are of so many models, weights told apart", () => {
    expect(modelsOf(["a", "b", "c"], RUNS)).toEqual(["small", "large"]);
    expect(modelsOf(["b", "c", "gone"], RUNS)).toEqual(["large"]);
    const other = { ...RUNS[1], id: "e", model_info: { revision: "other" } } as (typeof RUNS)[number];
    expect(modelsOf(["b", "e"], [...RUNS, other])).toEqual(["large", "large"]);
  });

  it("come and go by a press", () => {
    expect(toggled(["a"], "b")).toEqual(["a", "b"]);
    expect(toggled(["a", "b"], "a")).toEqual(["b"]);
  });

  it("are suggested beside one", () => {
    expect(suggestions("b", RUNS)).toEqual([
      { text: "Other tasks of large (1)", runs: ["b", "d"] },
      { text: "copy in other models (1)", runs: ["b", "a"] },
      { text: "Everything else (2)", runs: ["b", "a", "d"] },
    ]);
    expect(suggestions("gone", RUNS)).toEqual([]);
  });
});
