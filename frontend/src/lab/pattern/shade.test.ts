import { describe, expect, it } from "vitest";
import { columnsOut, deepest, ramp, shaded } from "./shade";
import { thumbCells } from "./triangle";

const token = (special = false) => ({ special });

describe("the colour scale", () => {
  // Rows: all on the first token; then a quarter on the second.
  const cells = thumbCells(Uint8Array.from([255, 221, 128]), 0, 2, 1);

  it("is stretched to the largest weight outside the columns left out", () => {
    expect(deepest(cells, new Set())).toBe(1);
    expect(deepest(cells, new Set([0]))).toBeCloseTo((128 / 255) ** 2, 6);
  });

  it("never makes noise look strong", () => {
    const faint = thumbCells(Uint8Array.from([255, 255, 10]), 0, 2, 1);
    expect(deepest(faint, new Set([0]))).toBe(0.08);
  });

  it.each(["light", "dark"] as const)(
    "paints cells and leaves what is above the diagonal clear, %s",
    (theme) => {
      const colours = ramp(theme);
      const pixels = shaded(cells, new Set([0]), colours);
      const pixel = (at: number) => [...pixels.slice(at * 4, at * 4 + 4)];
      expect(pixel(1)).toEqual([0, 0, 0, 0]);
      expect(pixel(3)).toEqual([...(colours.blues[255] ?? []), 255]);
      expect(pixel(0)).toEqual([...(colours.greys[255] ?? []), 255]);
    },
  );
});

describe("the columns left out", () => {
  const tokens = [token(), token(), token(true), token()];
  it("are the first token's and those of special tokens", () =>
    expect([...columnsOut(tokens, 1, false)]).toEqual([0, 2]));
  it("are the first alone where a cell is a block of tokens", () =>
    expect([...columnsOut(tokens, 2, false)]).toEqual([0]));
  it("are none where they count", () => expect(columnsOut(tokens, 1, true).size).toBe(0));
});
