import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allOpen,
  box,
  changed,
  changedTo,
  fromParam,
  type GateState,
  headAt,
  indexOf,
  layer,
  moved,
  redone,
  rounded,
  same,
  set,
  solo,
  started,
  toggled,
  toParam,
  toRows,
  undone,
} from "./gates";

const SIZES = { layers: 3, heads: 4 };
const value = fc.oneof(fc.constant(0), fc.constant(1), fc.float({ min: 0, max: 1, noNaN: true }));
const states = fc
  .array(value, { minLength: 12, maxLength: 12 })
  .map((values) => Float32Array.from(values, Math.abs));
const places = fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { minLength: 1 });

/** Indices by name, and a state written as a list. */
const at = (l: number, h: number) => indexOf(SIZES, { layer: l, head: h });
const list = (gates: GateState) => Array.from(gates);

describe("a hand on the gates", () => {
  it("never changes the state it was given, and never leaves [0, 1]", () => {
    fc.assert(
      fc.property(states, places, fc.double({ noNaN: true }), (gates, which, number) => {
        const before = list(gates);
        for (const next of [
          set(gates, which, number),
          moved(gates, which, number),
          toggled(gates, which),
          solo(gates, which),
        ]) {
          expect(next.every((gate) => gate >= 0 && gate <= 1)).toBe(true);
        }
        expect(list(gates)).toEqual(before);
      }),
    );
  });

  it("moves the heads it holds and no other", () => {
    fc.assert(
      fc.property(states, places, (gates, which) => {
        const next = set(gates, which, 0.25);
        next.forEach((gate, i) => void expect(gate).toBe(which.includes(i) ? 0.25 : gates[i]));
      }),
    );
  });

  it("mutes, and a second time opens", () => {
    const muted = toggled(allOpen(SIZES), [at(1, 2)]);
    expect(changed(muted)).toEqual([at(1, 2)]);
    expect(changed(toggled(muted, [at(1, 2)]))).toEqual([]);
    // Of several it opens only what is muted altogether.
    expect(changed(toggled(muted, [at(1, 2), at(0, 0)]))).toEqual([at(0, 0), at(1, 2)]);
  });

  it("lets some play alone, and a second time all", () => {
    const alone = solo(allOpen(SIZES), [at(2, 0)]);
    expect(list(alone).filter((gate) => gate === 1)).toHaveLength(1);
    expect(alone[at(2, 0)]).toBe(1);
    expect(same(solo(alone, [at(2, 0)]), allOpen(SIZES))).toBe(true);
  });

  it("steps in hundredths and stops at the ends", () => {
    const once = moved(allOpen(SIZES), [0], -0.1);
    expect(once[0]).toBeCloseTo(0.9, 6);
    let gates = once;
    for (let i = 0; i < 12; i += 1) gates = moved(gates, [0], -0.1);
    expect(gates[0]).toBe(0);
    expect([rounded(Number.NaN), rounded(-3), rounded(0.426)]).toEqual([1, 0, 0.43]);
  });

  it("takes a whole layer, or a box drawn either way", () => {
    expect(layer(SIZES, 1)).toEqual([4, 5, 6, 7]);
    const corners = [
      { layer: 0, head: 2 },
      { layer: 1, head: 1 },
    ] as const;
    expect(box(SIZES, ...corners)).toEqual([at(0, 1), at(0, 2), at(1, 1), at(1, 2)]);
    expect(box(SIZES, corners[1], corners[0])).toEqual(box(SIZES, ...corners));
    expect(headAt(SIZES, at(2, 3))).toEqual({ layer: 2, head: 3 });
  });
});

describe("gates in an address", () => {
  it("come back exactly as they were", () => {
    fc.assert(
      fc.property(states, (gates) => {
        expect(list(fromParam(toParam(gates, SIZES), SIZES))).toEqual(list(gates));
      }),
    );
  });

  it("come back exactly from the API's rows", () => {
    fc.assert(
      fc.property(states, (gates) => {
        const sent = JSON.parse(JSON.stringify(toRows(gates, SIZES))) as number[][];
        expect(list(Float32Array.from(sent.flat()))).toEqual(list(gates));
      }),
    );
  });

  it.each<[string, (gates: GateState) => GateState]>([
    ["", (gates) => gates],
    ["1.2", (gates) => set(gates, [at(1, 2)], 0)],
    ["0.0,1.2:0.5", (gates) => set(set(gates, [0], 0), [at(1, 2)], 0.5)],
    ["1", (gates) => set(gates, layer(SIZES, 1), 0)],
    ["all,2.1:1", (gates) => solo(gates, [at(2, 1)])],
  ])("read short: %j", (text, change) => {
    const gates = change(allOpen(SIZES));
    expect(toParam(gates, SIZES)).toBe(text);
    expect(list(fromParam(text, SIZES))).toEqual(list(gates));
  });

  it("come back exactly where they are many, and nothing else does", () => {
    const many = { layers: 30, heads: 9 };
    const gate = fc.oneof(
      fc.integer({ min: 0, max: 100 }).map((n) => n / 100),
      fc.float({ min: 0, max: 1, noNaN: true }),
    );
    fc.assert(
      fc.property(fc.array(gate, { minLength: 270, maxLength: 270 }), (values) => {
        const gates = Float32Array.from(values, Math.abs);
        const text = toParam(gates, many);
        expect(text).toMatch(/^[\w.,:~-]*$/);
        expect(list(fromParam(text, many))).toEqual(list(gates));
        expect(changed(fromParam(text, { layers: 2, heads: 8 })).every((i) => i < 16)).toBe(true);
      }),
      { numRuns: 30 },
    );
    const byHand = Float32Array.from({ length: 270 }, (_, i) => (i % 101) / 100);
    expect(toParam(byHand, many).length).toBe(2 + 360);
    for (const broken of ["~h", "~hAA", "~f????", `~h${"_".repeat(360)}`])
      expect(changed(fromParam(broken, many))).toEqual([]);
  });

  it("leave out what is no head of the model, and never break", () => {
    expect(changed(fromParam("9.9,1.2,7,0.1:2,0.1:-1,0.1:x,0.1:,::,a.b:0", SIZES))).toEqual([at(1, 2)]);
    fc.assert(fc.property(fc.string(), (text) => void fromParam(text, SIZES)));
    expect(changed(fromParam(null, SIZES))).toEqual([]);
  });
});

describe("undo", () => {
  const number = (n: number) => Float32Array.of(n);

  it("takes back every step, and redo brings each again", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 30 }), (numbers) => {
        let history = started(number(9));
        for (const n of numbers) history = changedTo(history, number(n));
        const end = history.present;
        const steps = history.past.length;
        for (let i = 0; i < steps; i += 1) history = undone(history);
        expect(list(history.present)).toEqual([9]);
        expect(undone(history)).toBe(history);
        for (let i = 0; i < steps; i += 1) history = redone(history);
        expect(list(history.present)).toEqual(list(end));
        expect(redone(history)).toBe(history);
      }),
    );
  });

  it("counts a whole drag as one step", () => {
    let history = started(number(1));
    for (const n of [0.9, 0.5, 0.2]) history = changedTo(history, number(n), { step: false });
    history = changedTo(history, number(0.1));
    expect(history.past).toHaveLength(1);
    expect(list(undone(history).present)).toEqual([1]);
  });

  it("leaves no step where a movement ends where it began", () => {
    let history = changedTo(started(number(1)), number(0.5), { step: false });
    history = changedTo(history, number(1));
    expect(history.past).toHaveLength(0);
  });

  it("in the middle of a movement goes back to its beginning", () => {
    const history = undone(changedTo(started(number(1)), number(0.5), { step: false }));
    expect([list(history.present), history.began]).toEqual([[1], null]);
  });

  it("forgets what was undone once something else is done", () => {
    const history = changedTo(undone(changedTo(started(number(1)), number(0))), number(0.5));
    expect(history.future).toEqual([]);
  });
});
