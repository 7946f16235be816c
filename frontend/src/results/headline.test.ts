import { describe, expect, it } from "vitest";
import type { Run } from "../api/types";
import { factsOf, weightsOf, worded } from "./headline";
import { titleText, titleWords } from "./RunTitle";

const facts = (headline: Run["headline"]) => factsOf({ headline });

describe("a run's few numbers", () => {
  it("are words and numbers as people read them", () => {
    expect(worded("loss_first_copy")).toBe("Loss first copy");
    expect(facts({ loss: 0.44817, heads: 12, done: true, none: null }).map(({ text }) => text)).toEqual([
      "0.448",
      "12",
      "yes",
      "–",
    ]);
    expect(facts(null)).toEqual([]);
  });

  it("are percent where they are shares of one", () => {
    const texts = (headline: Run["headline"]) => facts(headline).map(({ text }) => text);
    expect(texts({ accuracy_gated: 0.993, probability_shuffled: 0.0125, forgotten_keeps: 0 })).toEqual([
      "99.3\u202f%",
      "1.25\u202f%",
      "0\u202f%",
    ]);
    expect(texts({ retained_keeps: 1.1 })).toEqual(["110\u202f%"]);
    expect(texts({ log_probability: -0.5, selectivity: 0.217, kept_accuracy: null })).toEqual([
      "−0.500",
      "0.217",
      "–",
    ]);
  });

  it("know the heads they name, alone, listed and as a pair", () => {
    const [one, some, pair, score, words] = facts({
      induction_head: "18.6",
      heads: ["1.5", "1.2"],
      pair: "0.3 → 1.5",
      score: 0.89,
      note: "no head",
    });
    expect(one?.heads).toEqual([{ layer: 18, head: 6 }]);
    expect(some?.heads).toEqual([
      { layer: 1, head: 5 },
      { layer: 1, head: 2 },
    ]);
    expect([pair?.heads.length, pair?.between]).toEqual([2, "→"]);
    expect([score?.heads, words?.heads]).toEqual([[], []]);
  });

  it("say how weights were handled where that matters", () => {
    expect(weightsOf({ params: { weight_processing: "raw" } })).toBe("raw");
    expect(weightsOf({ params: { seeds: 3 } })).toBeNull();
  });
});

describe("a run's title", () => {
  const run = {
    analysis: "chg",
    title: "Causal head gating",
    model: "m",
    model_title: "M",
    task: "t",
    task_title: "Task",
    params: {},
  };
  it("names model and task, and the analysis where it isn't gates", () => {
    expect(titleText(titleWords(run, { title: "Model" }))).toBe("Model on Task");
    expect(titleText(titleWords({ ...run, analysis: "sufficiency", title: "Sufficient heads" }))).toBe(
      "M on Task · Sufficient heads",
    );
    const induction = { ...run, analysis: "induction", title: "Induction", task: null, task_title: null };
    expect(titleText(titleWords(induction))).toBe("M · Induction");
  });

  it("names the tasks of the settings where it has none of its own", () => {
    const bare = { ...run, analysis: "cchg", title: "Contrastive gating", task: null, task_title: null };
    const named = (params: Run["params"]) => titleText(titleWords({ ...bare, params }));
    expect(named({ retain: ["a", "b"], forget: ["c"] })).toBe("M on a, b without c · Contrastive gating");
    expect(named({ tasks: ["a", "b"] })).toBe("M on a, b · Contrastive gating");
    expect(named({ retain: [], forget: [], tasks: null })).toBe("M · Contrastive gating");
    expect(titleText(titleWords({ ...run, params: { tasks: ["other"] } }))).toBe("M on Task");
  });
});
