import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PatternsOut } from "../../api/labTypes";
import {
  attentionOf,
  patternOfThumb,
  pooled,
  readPatterns,
  thumbCells,
  triangleSize,
  weightOf,
} from "./triangle";

function encoded(values: ArrayBufferView, dtype: string, shape: string) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { dtype, shape, bdata: btoa(String.fromCharCode(...bytes)) };
}

function answer(tokens: number, rest: Partial<PatternsOut>): PatternsOut {
  const token = { id: 0, start: 0, end: 1, text: "a", hex: "61", special: false };
  return {
    model: "m",
    layers: [3],
    tokens: Array.from({ length: tokens }, () => token),
    patterns: null,
    triangle: null,
    top: null,
    ...rest,
  };
}

/** A causal pattern as bytes, one row after another; each row's bytes are what a worker would send. */
const triangles = fc
  .integer({ min: 1, max: 20 })
  .chain((side) =>
    fc
      .uint8Array({ minLength: triangleSize(side), maxLength: triangleSize(side) })
      .map((bytes) => ({ side, bytes })),
  );

describe("a triangle of bytes", () => {
  it("is read row by row: a weight is the square of its byte's share of 255", () => {
    // Two heads of three tokens: [1], [0, 1], [0.25, 0, 1] and [1], [1, 0], [0, 0, 1].
    const bytes = Uint8Array.from([255, 0, 255, 128, 0, 255, 255, 255, 0, 0, 0, 255]);
    const [first, second] = readPatterns(answer(3, { triangle: encoded(bytes, "u1", "1, 2, 6") }));
    expect([...(first?.row(1) ?? [])]).toEqual([0, 1]);
    expect(first?.row(2)[0]).toBeCloseTo((128 / 255) ** 2, 7);
    expect([...(second?.row(1) ?? [])]).toEqual([1, 0]);
    expect([...(second?.row(2) ?? [])]).toEqual([0, 0, 1]);
    expect(first?.rest(2)).toBe(0);
  });

  it("is the same from a small picture that shows every token", () => {
    fc.assert(
      fc.property(triangles, ({ side, bytes }) => {
        const both = new Uint8Array(bytes.length * 2);
        both.set(bytes, bytes.length);
        const pattern = patternOfThumb(both, 1, side);
        const cells = thumbCells(both, 1, side, 1);
        for (let query = 0; query < side; query += 1) {
          const row = pattern.row(query);
          expect(row).toHaveLength(query + 1);
          for (let key = 0; key < side; key += 1) {
            const cell = cells.weights[query * side + key];
            if (key > query) expect(cell).toBeNaN();
            else expect(cell).toBe(row[key]);
          }
        }
      }),
    );
  });
});

describe("a long prompt's rows", () => {
  it("hold their largest keys; what isn't sent is nothing, and the rest is known", () => {
    const keys = Uint16Array.from([0, 65535, 1, 0, 0, 2]);
    const weights = Uint8Array.from([255, 0, 200, 100, 255, 50]);
    const rest = Float32Array.from([0, 0, 0.25]);
    const top = {
      keys: encoded(keys, "u2", "1, 1, 3, 2"),
      weights: encoded(weights, "u1", "1, 1, 3, 2"),
      rest: encoded(rest, "f4", "1, 1, 3"),
    };
    const [pattern] = readPatterns(answer(3, { top }));
    expect([...(pattern?.row(0) ?? [])]).toEqual([1]);
    expect([...(pattern?.row(1) ?? [])]).toEqual([weightOf(100), weightOf(200)]);
    expect([...(pattern?.row(2) ?? [])]).toEqual([1, 0, weightOf(50)]);
    expect(pattern?.rest(2)).toBe(0.25);
  });
});

describe("pooling", () => {
  it("keeps the largest weight of each block, and nothing above the diagonal", () => {
    fc.assert(
      fc.property(triangles, fc.integer({ min: 1, max: 8 }), ({ side, bytes }, most) => {
        const pattern = patternOfThumb(bytes, 0, side);
        const cells = pooled(pattern, most);
        expect(cells.side).toBeLessThanOrEqual(most);
        expect(cells.side).toBe(Math.ceil(side / cells.block));
        const largest = new Map<number, number>();
        for (let query = 0; query < side; query += 1) {
          pattern.row(query).forEach((weight, key) => {
            const at = Math.floor(query / cells.block) * cells.side + Math.floor(key / cells.block);
            largest.set(at, Math.max(largest.get(at) ?? 0, weight));
          });
        }
        cells.weights.forEach((weight, at) => {
          if (largest.has(at)) expect(weight).toBe(largest.get(at));
          else expect(weight).toBeNaN();
        });
      }),
    );
  });
});

describe("attention of some tokens", () => {
  it("sums where they look and who looks at them", () => {
    // [1], [0.5…, 0.5…], [0, 1, 0]: token 2 looks at 1 alone.
    const half = Math.round(255 * Math.sqrt(0.5));
    const pattern = patternOfThumb(Uint8Array.from([255, half, half, 0, 255, 0]), 0, 3);
    const two = attentionOf(pattern, [2]);
    expect([...two.looks]).toEqual([0, 1, 0]);
    expect([...two.seen]).toEqual([0, 0, 0]);
    const both = attentionOf(pattern, [0, 1]);
    expect(both.looks[0]).toBeCloseTo(1 + weightOf(half), 6);
    expect(both.seen[2]).toBeCloseTo(1, 6);
    expect([...attentionOf(pattern, [9]).looks]).toEqual([0, 0, 0]);
  });
});
