import { describe, expect, it } from "vitest";
import {
  bytes,
  count,
  duration,
  measured,
  number,
  percent,
  percentChange,
  plural,
  progress,
  share,
  shareRange,
} from "./numbers";

const plain = (text: string) => text.replaceAll("\u202f", " ");

describe("numbers", () => {
  it.each([
    [0, "0"],
    [-0.4123, "−0.412"],
    [12.345, "12.3"],
    [1234.5, "1,230"],
    [99.96, "100"],
    [1e-7, "1e−7"],
    [134515008, "1.35e8"],
    [null, "–"],
    [Number.NaN, "–"],
  ])("writes %s as %s", (value, text) => expect(number(value)).toBe(text));

  it.each([
    [0.1934, "19.3 %"],
    [1, "100 %"],
    [0, "0 %"],
    [0.055, "5.50 %"],
    [0.13, "13.0 %"],
    [0.00001, "< 0.01 %"],
    [undefined, "–"],
  ])("writes the share %s as %s", (value, text) => expect(plain(percent(value))).toBe(text));

  it.each([
    [0.9832, 0.0549, "98.3 → 5.5 %"],
    [0, 0.0004, "0.0 → <0.1 %"],
    [null, 1, "– → 100.0 %"],
  ])("writes the change from %s to %s as %s", (before, after, text) =>
    expect(plain(percentChange(before, after))).toBe(text),
  );

  it("keeps the zeros of what was measured", () => {
    expect([0.99, 1, 0.0333, 0, 12.34, -0.5, 123.4].map(measured)).toEqual([
      "0.990",
      "1.00",
      "0.0333",
      "0",
      "12.3",
      "−0.500",
      "123",
    ]);
    expect(plain(progress(0.429))).toBe("42 %");
  });

  it("writes accuracies without a leading zero", () => {
    expect([0.42, 1, 0, -0.1].map(share)).toEqual([".42", "1.00", ".00", "−.10"]);
    expect(shareRange([0.84, Number.NaN, 0.92])).toBe(".84–.92");
    expect(shareRange([0.841, 0.842])).toBe(".84");
    expect(shareRange([])).toBe("–");
  });

  it.each([
    [0.42, "0.4 s"],
    [43.2, "43 s"],
    [720, "12 min"],
    [7500, "2 h 5 min"],
    [-1, "–"],
  ])("writes %s seconds as %s", (seconds, text) => expect(plain(duration(seconds))).toBe(text));

  it("writes bytes, counts and plurals", () => {
    expect([0, 1600, 98_000_000, 999_999].map(bytes).map(plain)).toEqual(["0 B", "1.6 kB", "98 MB", "1 MB"]);
    expect(count(49152)).toBe("49,152");
    expect([plural(1, "seed"), plural(5, "seed")]).toEqual(["1 seed", "5 seeds"]);
  });
});
