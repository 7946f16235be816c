import { describe, expect, it } from "vitest";
import { ArrayError, decode, numbersOf } from "./arrays";

describe("typed arrays", () => {
  it("keep NaN, shape and byte order", () => {
    const { shape, values } = decode({ dtype: "f4", shape: "1, 2", bdata: "AACAPwAAwH8=" });
    expect(shape).toEqual([1, 2]);
    expect(Array.from(values)).toEqual([1, Number.NaN]);
  });

  it("are read by any dtype that plotly has", () => {
    expect(Array.from(decode({ dtype: "u1", bdata: "AAEF" }).values)).toEqual([0, 1, 5]);
    expect(Array.from(decode({ dtype: "<i2", bdata: "//8=" }).values)).toEqual([-1]);
  });

  it("say what is wrong with them", () => {
    expect(() => decode({ dtype: "c8", bdata: "" })).toThrow("dtype c8");
    expect(() => decode({ dtype: "f4", bdata: "AAA=" })).toThrow(ArrayError);
    expect(() => decode({ dtype: "u1", shape: "2, 2", bdata: "AAEF" })).toThrow(
      "shape 2 × 2 came with 3 values",
    );
  });

  it("are numbers whichever way they came", () => {
    expect(numbersOf({ dtype: "u1", bdata: "AAEF" })).toEqual([0, 1, 5]);
    expect(numbersOf([[1], [2, null]])).toEqual([1, 2, Number.NaN]);
    expect(numbersOf("text")).toEqual([]);
  });
});
