import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COMPARISONS } from "./compare";
import {
  COMPOSITIONS,
  DEFAULT_VIEW,
  formatPlace,
  MODES,
  type Place,
  parseHead,
  parsePlace,
  parseView,
  SCORES,
  type View,
  viewParameters,
} from "./view";

const whole = fc.integer({ min: 0, max: 9999 });
const heads = fc.record({ layer: whole, head: whole });
const views: fc.Arbitrary<View> = fc
  .record({
    mode: fc.constantFrom(...MODES),
    threshold: fc.integer({ min: 1, max: 100 }).map((n) => n / 100),
    head: fc.option(heads),
    passport: fc.boolean(),
    score: fc.constantFrom(...SCORES),
    turned: fc.boolean(),
  })
  .map((view) => ({ ...view, passport: view.passport && view.head !== null }));

// Names of models (org/name), tasks and runs: anything a user may have typed, but not nothing.
const names = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
  .filter((name) => name.isWellFormed() && name !== "." && name !== "..");
const maybe = fc.option(names);

const places: fc.Arbitrary<Place> = fc.oneof(
  fc.record({ page: fc.constant("atlas" as const), model: maybe, task: maybe, view: views }),
  fc.record({ page: fc.constant("run" as const), id: names, view: views }),
  fc.record({ page: fc.constant("shared" as const), token: names, view: fc.option(views) }),
  fc.record({
    page: fc.constant("new" as const),
    analysis: maybe,
    model: maybe,
    task: maybe,
    preset: maybe,
    params: fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/), names),
  }),
  fc.record({
    page: fc.constant("circuit-test" as const),
    model: maybe,
    task: maybe,
    preset: maybe,
    params: fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/), names),
  }),
  fc.record({
    page: fc.constant("runs" as const),
    model: maybe,
    task: maybe,
    analysis: maybe,
    status: maybe,
  }),
  fc.record({
    page: fc.constant("circuits" as const),
    model: maybe,
    circuits: fc
      .record({
        head: fc.option(heads),
        weights: maybe,
        tab: fc.constantFrom("heads" as const, "head" as const),
        composition: fc.constantFrom(...COMPOSITIONS),
        threshold: fc.integer({ min: 1, max: 100 }).map((n) => n / 100),
        token: fc.option(fc.integer({ min: 0, max: 9_999_999 })),
        virtual: fc.option(
          fc.record({
            writer: fc.constantFrom("embed", "0.3", "mlp 2"),
            reader: fc.constantFrom("unembed", "1.5 k", "mlp 3"),
          }),
        ),
      })
      .map((view) => ({ ...view, tab: view.head === null ? ("heads" as const) : view.tab })),
  }),
  fc.record({
    page: fc.constant("compare" as const),
    runs: fc.option(fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{8}$/), { maxLength: 5 })),
    view: fc.constantFrom(...COMPARISONS),
    threshold: fc.integer({ min: 1, max: 100 }).map((n) => n / 100),
    mode: fc.constantFrom(...MODES),
    score: fc.constantFrom(...SCORES),
    published: fc.boolean(),
    common: fc.boolean(),
  }),
  fc.record({ page: fc.constant("tasks" as const) }),
  fc.record({
    page: fc.constant("task" as const),
    name: names,
    model: maybe,
    split: fc.constantFrom("train" as const, "test" as const),
  }),
  fc.record({ page: fc.constant("models" as const) }),
  fc.record({ page: fc.constant("model" as const), name: names }),
  fc.record({
    page: fc.constant("sign-in" as const),
    next: fc.constantFrom("/", "/runs/3f9c?threshold=0.40"),
  }),
);

describe("addresses", () => {
  it("hold every place: what is formatted is parsed back the same", () => {
    fc.assert(
      fc.property(places, (place) => {
        expect(parsePlace(formatPlace(place))).toEqual(place);
      }),
    );
  });

  it("hold every view as parameters that a share can keep", () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(parseView(new URLSearchParams(viewParameters(view)))).toEqual(view);
      }),
    );
  });

  it("never break, whatever is typed", () => {
    fc.assert(
      fc.property(
        fc.webPath(),
        fc.webQueryParameters(),
        (path, query) => void parsePlace(`${path || "/"}?${query}`),
      ),
    );
  });

  it("leave the defaults out", () => {
    expect(formatPlace({ page: "run", id: "3f9c", view: DEFAULT_VIEW })).toBe("/runs/3f9c");
    expect(
      formatPlace({ page: "atlas", model: "a/b", task: "t", view: { ...DEFAULT_VIEW, threshold: 0.7 } }),
    ).toBe("/?model=a%2Fb&task=t&threshold=0.70");
  });

  it.each([
    ["threshold=2", 0.5],
    ["threshold=", 0.5],
    ["threshold=0", 0.5],
    ["threshold=abc", 0.5],
    ["threshold=0.777", 0.78],
  ])("read %s as %s", (query, threshold) =>
    expect(parseView(new URLSearchParams(query)).threshold).toBe(threshold),
  );

  it("read heads, and only heads", () => {
    expect(parseHead("17.4")).toEqual({ layer: 17, head: 4 });
    expect(["17", "a.b", "-1.2", "1.2.3", "", null].map(parseHead)).toEqual(Array(6).fill(null));
  });

  it.each(["/nothing", "/runs/a/b", "/s", "/tasks/a/b/c"])("lead nowhere: %s", (address) =>
    expect(parsePlace(address)).toEqual({ page: "not-found", path: address }),
  );

  it("never send a reader to another site after signing in", () => {
    for (const next of ["https://elsewhere.org", "//elsewhere.org", "/\\elsewhere.org", "javascript:1"]) {
      expect(parsePlace(`/sign-in?next=${encodeURIComponent(next)}`)).toEqual({ page: "sign-in", next: "/" });
    }
  });
});
