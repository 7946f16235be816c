import { describe, expect, it } from "vitest";
import type { Analysis, Run } from "../api/types";
import { chosenWeights, fits, processings, sectionRequest, sectionRuns } from "./circuitRuns";

const run = (id: string, analysis: string, status: Run["status"], weights?: string): Run =>
  ({ id, analysis, status, params: weights ? { weight_processing: weights } : {} }) as unknown as Run;
const eigen = {
  name: "eigen",
  presets: { quick: {}, paper: {} },
  params_schema: { properties: { weight_processing: { enum: ["raw", "folded"], default: "folded" } } },
} as unknown as Analysis;

describe("a section of the circuits", () => {
  it("shows the newest result of its own weight processing, never another's", () => {
    const runs = [
      run("c", "eigen", "done", "raw"),
      run("b", "eigen", "done", "folded"),
      run("a", "eigen", "done", "folded"),
    ];
    expect(sectionRuns(runs, "eigen", "folded").done?.id).toBe("b");
    expect(sectionRuns(runs, "eigen", "raw").done?.id).toBe("c");
    expect(sectionRuns(runs, "paths", "raw")).toEqual({ done: undefined, open: undefined });
  });

  it("shows what is on its way, and a failure only where there is no result", () => {
    const done = run("a", "eigen", "done", "folded");
    const moving = run("b", "eigen", "running", "folded");
    const failed = run("c", "eigen", "failed", "folded");
    expect(sectionRuns([moving, done], "eigen", "folded")).toEqual({ done, open: moving });
    expect(sectionRuns([failed, done], "eigen", "folded")).toEqual({ done, open: undefined });
    expect(sectionRuns([failed], "eigen", "folded")).toEqual({ done: undefined, open: failed });
  });

  it("takes runs that read no weights with any processing", () => {
    const residual = run("a", "residual", "done");
    expect(sectionRuns([residual], "residual", "raw").done).toBe(residual);
  });

  it("asks for the processing that is shown", () => {
    expect(processings(eigen)).toEqual(["folded", "raw"]);
    expect(sectionRequest(eigen, "m", "raw")).toEqual({
      analysis: "eigen",
      model: "m",
      preset: null,
      params: { weight_processing: "raw" },
    });
    const exact = {
      ...eigen,
      params_schema: { properties: { weight_processing: { const: "folded", default: "folded" } } },
    } as unknown as Analysis;
    expect(processings(exact)).toEqual(["folded"]);
    expect([fits(exact, "folded"), fits(exact, "raw"), fits(eigen, "raw")]).toEqual([true, false, true]);
    const plain = { ...eigen, name: "residual", params_schema: {} } as Analysis;
    expect(sectionRequest(plain, "m", "raw").params).toEqual({});
  });
});

describe("the weight processing that is shown", () => {
  it("is the address', else the one with most results, else the default", () => {
    const runs = [run("a", "eigen", "done", "raw"), run("b", "composition", "done", "raw")];
    expect(chosenWeights("folded", runs, ["folded", "raw"])).toBe("folded");
    expect(chosenWeights(null, runs, ["folded", "raw"])).toBe("raw");
    expect(chosenWeights(null, [], ["folded", "raw"])).toBe("folded");
    expect(chosenWeights(null, [], [])).toBeNull();
  });
});
