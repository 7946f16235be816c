import { describe, expect, it } from "vitest";
import type { Model, Run, Task } from "../api/types";
import { anyPair, chosenPair } from "./chosenPair";

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
    ...more,
  } as Run;
}

const models = [
  { name: "small", ready: true },
  { name: "large", ready: false },
] as Model[];
const tasks = [{ name: "plural" }, { name: "induction" }] as Task[];

describe("the atlas opens", () => {
  it("the largest model's shipped map, the one that tells most, where nothing is asked for", () => {
    const gain = (accuracy_plus: number) => ({ accuracy_ungated: 0.4, accuracy_plus });
    const runs = [
      run("a", "small", "induction", { origin: "gallery", headline: gain(1) }),
      run("b", "large", "past", { origin: "gallery", headline: gain(0.5) }),
      run("c", "large", "plural", { origin: "gallery", headline: gain(0.9) }),
      run("d", "large", "capital", { origin: "gallery" }),
      run("e", "large", "induction", { headline: gain(1) }),
    ];
    expect(chosenPair({ model: null, task: null }, runs)).toEqual({ model: "large", task: "plural" });
    expect(chosenPair({ model: "small", task: null }, runs)).toEqual({ model: "small", task: "induction" });
    expect(chosenPair({ model: null, task: "past" }, runs)).toEqual({ model: "large", task: "past" });
  });

  it("a map of roles rather than a steering map that lifts more", () => {
    const steering = { always_lifts_open: 0.1, accuracy_ungated: 0.1, accuracy_plus: 0.9 };
    const roles = { always_needed: 0.1, accuracy_ungated: 0.9, accuracy_plus: 0.95 };
    const runs = [
      run("a", "large", "plural", { origin: "gallery", headline: steering }),
      run("b", "large", "past", { origin: "gallery", headline: roles }),
    ];
    expect(chosenPair({ model: null, task: null }, runs)).toEqual({ model: "large", task: "past" });
  });

  it("what is asked for, with a map or without", () => {
    expect(chosenPair({ model: "small", task: "plural" }, [])).toEqual({ model: "small", task: "plural" });
    expect(chosenPair({ model: "small", task: null }, [])).toBeNull();
    expect(anyPair({ model: null, task: null }, models, tasks)).toEqual({ model: "small", task: "plural" });
    expect(anyPair({ model: "large", task: null }, models, tasks)).toEqual({
      model: "large",
      task: "plural",
    });
    expect(anyPair({ model: null, task: null }, [], tasks)).toBeNull();
  });
});
