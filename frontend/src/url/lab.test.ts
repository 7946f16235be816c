import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_LAB, LAB_SORTS, type LabView, labParameters, parseLab } from "./lab";
import { formatPlace, parsePlace } from "./view";

const whole = fc.integer({ min: 0, max: 9999 });
const names = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
  .filter((name) => name.isWellFormed());
const maybe = fc.option(names);

const views: fc.Arbitrary<LabView> = fc.record({
  model: maybe,
  prompt: maybe,
  example: maybe,
  row: whole,
  bos: fc.option(fc.boolean()),
  fold: fc.boolean(),
  weighted: fc.boolean(),
  sort: fc.constantFrom(...LAB_SORTS),
  least: fc.integer({ min: 0, max: 500 }).map((n) => n / 100),
  sink: fc.boolean(),
  head: fc.option(fc.record({ layer: whole, head: whole })),
  locked: fc.uniqueArray(whole, { maxLength: 64 }).map((tokens) => tokens.sort((a, b) => a - b)),
  at: fc.option(whole),
  answers: fc.uniqueArray(whole, { maxLength: 2 }),
  mute: maybe,
  gates: maybe,
  closed: fc.option(
    fc.record({
      ablation: fc.constantFrom("mean" as const, "resample" as const),
      reference: fc.stringMatching(/^[a-z-]{1,30}$/),
    }),
  ),
});

describe("the lab's address", () => {
  it("holds every view: what is formatted is parsed back the same", () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(parsePlace(formatPlace({ page: "lab", ...view }))).toEqual({ page: "lab", ...view });
        expect(parseLab(new URLSearchParams(labParameters(view)))).toEqual(view);
      }),
    );
  });

  it("is short where nothing is chosen", () => {
    expect(formatPlace({ page: "lab", ...DEFAULT_LAB })).toBe("/lab");
    expect(parsePlace("/lab")).toEqual({ page: "lab", ...DEFAULT_LAB });
  });

  it("takes nonsense for nothing", () => {
    const nonsense = "row=-1&bos=yes&sort=size&least=-2&head=x&locked=1,a,,3,1&at=1e3&answers=9,8,7";
    expect(parseLab(new URLSearchParams(nonsense))).toEqual({
      ...DEFAULT_LAB,
      locked: [1, 3],
      answers: [9, 8],
    });
  });
});
