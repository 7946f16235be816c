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
  };
  it("names model and task, and the analysis where it isn't gates", () => {
    expect(titleText(titleWords(run, { title: "Model" }))).toBe("Model on Task");
    expect(titleText(titleWords({ ...run, analysis: "sufficiency", title: "Sufficient heads" }))).toBe(
      "M on Task · Sufficient heads",
    );
    const induction = { ...run, analysis: "induction", title: "Induction", task: null, task_title: null };
    expect(titleText(titleWords(induction))).toBe("M · Induction");
  });
});
