import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Look, readLook, sharing } from "../state/look";
import { scaleInWords } from "./HeadsCard";
import { LABEL, ordered, placeAt, sheet, stepped } from "./order";

function typed(values: number[], shape: string, dtype = "f4") {
  const bytes = new Uint8Array(dtype === "u1" ? Uint8Array.from(values) : Float32Array.from(values).buffer);
  return { dtype, shape, bdata: btoa(String.fromCharCode(...bytes)) };
}

const score = (name: string) => ({ name, title: name, reading: name, unit: null });

/** Two layers of two heads on one token. */
function look(induction: number[], entropy: number[]): Look {
  return readLook({
    model: "m",
    n_kv_heads: 1,
    tokens: [{ id: 0, start: 0, end: 1, text: "a", hex: "61", special: false }],
    n_ctx: 8,
    bos: "none",
    copies: [[]],
    scores: [score("induction"), score("entropy")],
    values: typed([...induction, ...entropy], "2, 2, 2"),
    above: null,
    loss: typed([Number.NaN], "1"),
    loss_first: null,
    loss_repeat: null,
    sink: 1,
    thumbs: { size: 1, block: 1, values: typed([255, 255, 255, 255], "2, 2, 1", "u1") },
  });
}

describe("the order of heads", () => {
  const seen = look([0.1, 0.5, Number.NaN, 0.5], [2, 1, 0.5, 3]);
  it("has the strongest first, ties as the model has them, and no value last", () =>
    expect(ordered(seen, { sort: "induction", least: 0 })).toEqual([1, 3, 0, 2]));
  it("has the lowest entropy first", () =>
    expect(ordered(seen, { sort: "entropy", least: 0 })).toEqual([2, 1, 0, 3]));
  it("is the model's own by layer, and where a score isn't known", () => {
    expect(ordered(seen, { sort: "layer", least: 0.4 })).toEqual([0, 1, 2, 3]);
    expect(ordered(seen, { sort: "sink", least: 0 })).toEqual([0, 1, 2, 3]);
  });
  it("leaves weak heads out", () => expect(ordered(seen, { sort: "induction", least: 0.2 })).toEqual([1, 3]));
  it("counts a head in whose score is the limit itself, as it is written", () =>
    expect(ordered(look([0.7, 0.5, 0.71, 0.69], [1, 1, 1, 1]), { sort: "induction", least: 0.7 })).toEqual([
      2, 0,
    ]));
  it("knows who shares keys and values", () =>
    expect(sharing(seen, { layer: 1, head: 0 })).toEqual([
      { layer: 1, head: 0 },
      { layer: 1, head: 1 },
    ]));
});

describe("the contact sheet", () => {
  it("hits each thumbnail at its place, in any width", () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 2000 }), fc.integer({ min: 1, max: 1024 }), (width, n) => {
        const laid = sheet(width, n);
        expect(laid.columns * laid.rows).toBeGreaterThanOrEqual(n);
        expect(laid.columns * (laid.side + laid.gap) - laid.gap).toBeLessThanOrEqual(width + 1);
        for (const at of [0, Math.floor(n / 2), n - 1]) {
          const x = (at % laid.columns) * (laid.side + laid.gap) + laid.side / 2;
          const y = Math.floor(at / laid.columns) * laid.rowHeight + laid.side / 2;
          expect(placeAt(laid, x, y, n)).toBe(at);
          expect(placeAt(laid, x, y + laid.side / 2 + LABEL + laid.gap / 2, n)).toBeNull();
        }
      }),
    );
  });

  it("is walked by keys and never left", () => {
    const laid = sheet(330, 10); // three columns
    expect(laid.columns).toBe(3);
    const go = (at: number, key: string) => stepped(at, key, laid, 10, 2);
    expect([go(0, "ArrowRight"), go(4, "ArrowDown"), go(4, "ArrowUp"), go(2, "PageDown")]).toEqual([
      1, 7, 1, 8,
    ]);
    expect([go(0, "ArrowLeft"), go(1, "ArrowUp"), go(9, "ArrowDown"), go(9, "ArrowRight")]).toEqual([
      0, 1, 9, 9,
    ]);
    expect([go(5, "Home"), go(5, "End"), go(5, "x")]).toEqual([0, 9, null]);
  });
});

it("says so where the first token takes most of the attention", () => {
  const thumbs = { sinks: null, size: 1, block: 2, values: new Uint8Array() };
  expect(scaleInWords({ sink: 0.62, thumbs }, false)).toMatch(
    /Most attention, 62\.0.%.*left out.*2 × 2 tokens/,
  );
  expect(scaleInWords({ sink: 0.2, thumbs: { ...thumbs, block: 1 } }, true)).toMatch(
    /Of all attention.*included/,
  );
});
