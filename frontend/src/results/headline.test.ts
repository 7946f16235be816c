import { describe, expect, it } from "vitest";
import type { HeadlineValue, Run } from "../api/types";
import { factsOf, weightsOf } from "./headline";
import { titleText, titleWords } from "./RunTitle";

const value = (label: string, value: unknown, unit: HeadlineValue["unit"] = ""): HeadlineValue => ({
  name: label.toLowerCase(),
  label,
  value,
  unit,
});
const facts = (...headline_values: HeadlineValue[]) => factsOf({ headline_values });

describe("a run's few numbers", () => {
  it("have the labels and the order that the analysis gives them", () => {
    const [loss, heads] = facts(
      value("Loss at the first copy", 0.44817, "nats"),
      value("Heads", 12, "count"),
    );
    expect([loss?.label, loss?.text]).toEqual(["Loss at the first copy", "0.448 nats"]);
    expect([heads?.label, heads?.text]).toEqual(["Heads", "12"]);
    expect(facts()).toEqual([]);
  });

  it("are percent where they are shares, of more than there was, too, and no others", () => {
    const texts = facts(
      value("Accuracy", 0.993, "share"),
      value("Kept", 1.1, "share"),
      value("Probability", 0, "share"),
      value("Accuracy of a probe", 0.217),
      value("Kept accuracy", null, "share"),
    ).map(({ text }) => text);
    expect(texts).toEqual(["99.3\u202f%", "110\u202f%", "0\u202f%", "0.217", "–"]);
  });

  it("have their interval beside them where they have one", () => {
    const [share, score] = facts(
      { ...value("Always needed", 0.25, "share"), low: 0.19, high: 0.312 },
      { ...value("Score", 0.5), low: 0.4, high: 0.6 },
    );
    expect(share?.text).toBe("25.0\u202f% (95 %: 19.0–31.2 %)");
    expect(score?.text).toBe("0.500 (95 %: 0.400 to 0.600)");
  });

  it("may be words, or nothing", () => {
    const texts = facts(value("Done", true), value("Verdict", "weak"), value("Heads", [], "head"));
    expect(texts.map(({ text }) => text)).toEqual(["yes", "weak", "none"]);
  });

  it("know the heads they name, alone, listed and as a pair", () => {
    const [one, some, pair, score, words, path] = facts(
      value("Strongest", "18.6", "head"),
      value("Heads", ["1.5", "1.2"], "head"),
      value("Pair", "0.3 → 1.5", "pair"),
      value("Score", "17.4"),
      value("None", "none", "head"),
      value("Path", "0.3 → mlp 1", "path"),
    );
    expect(one?.heads).toEqual([{ layer: 18, head: 6 }]);
    expect(some?.heads).toEqual([
      { layer: 1, head: 5 },
      { layer: 1, head: 2 },
    ]);
    expect([pair?.heads.length, pair?.between]).toEqual([2, "→"]);
    expect([score?.heads, words?.heads, path?.heads]).toEqual([[], [], []]);
  });

  it("say how weights were handled where that matters", () => {
    expect(weightsOf({ params: { weight_processing: "raw" } })).toBe("raw");
    expect(weightsOf({ params: { seeds: 3 } })).toBeNull();
  });
});

describe("a run's title", () => {
  const run = {
    has_roles: true,
    title: "Causal head gating",
    model: "m",
    model_title: "M",
    task: "t",
    task_title: "Task",
    params: {},
  };
  it("names model and task, and the analysis where it isn't gates", () => {
    expect(titleText(titleWords(run, { title: "Model" }))).toBe("Model on Task");
    expect(titleText(titleWords({ ...run, has_roles: false, title: "Sufficient heads" }))).toBe(
      "M on Task · Sufficient heads",
    );
    const induction = { ...run, has_roles: false, title: "Induction", task: null, task_title: null };
    expect(titleText(titleWords(induction))).toBe("M · Induction");
  });

  it("names the tasks of the settings where it has none of its own", () => {
    const bare = { ...run, has_roles: false, title: "Contrastive gating", task: null, task_title: null };
    const named = (params: Run["params"]) => titleText(titleWords({ ...bare, params }));
    expect(named({ retain: ["a", "b"], forget: ["c"] })).toBe("M on a, b without c · Contrastive gating");
    expect(named({ tasks: ["a", "b"] })).toBe("M on a, b · Contrastive gating");
    expect(named({ retain: [], forget: [], tasks: null })).toBe("M · Contrastive gating");
    expect(titleText(titleWords({ ...run, params: { tasks: ["other"] } }))).toBe("M on Task");
  });
});
