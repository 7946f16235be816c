import { describe, expect, it } from "vitest";
import { DEFAULT_COMPARE } from "./compare";
import { formatPlace, parsePlace } from "./view";

describe("the comparison's address", () => {
  it("leaves defaults out and reads like what it names", () => {
    expect(formatPlace({ page: "compare", ...DEFAULT_COMPARE })).toBe("/compare");
    expect(
      formatPlace({
        page: "compare",
        ...DEFAULT_COMPARE,
        runs: ["ab12", "cd34"],
        view: "overlap",
        threshold: 0.6,
      }),
    ).toBe("/compare?runs=ab12,cd34&view=overlap&threshold=0.60");
  });

  it("tells no runs from the proposed ones", () => {
    const none = { page: "compare" as const, ...DEFAULT_COMPARE, runs: [] };
    expect(parsePlace(formatPlace(none))).toEqual(none);
    expect(parsePlace("/compare")).toMatchObject({ runs: null });
  });

  it("takes a run once and leaves out what is no id", () => {
    expect(parsePlace("/compare?runs=ab,ab,,%3Cb%3E,cd&threshold=7&view=nope")).toEqual({
      page: "compare",
      ...DEFAULT_COMPARE,
      runs: ["ab", "cd"],
    });
  });
});
