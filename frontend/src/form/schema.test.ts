import { describe, expect, it } from "vitest";
import { complaints } from "./complaints";
import { fieldsOf, filled, overrides, presetValues, textOf, typed, type Value } from "./schema";

const SCHEMA = {
  type: "object",
  additionalProperties: false,
  properties: {
    clamp: { type: "number", exclusiveMinimum: 0, maximum: 50, default: 4, title: "Logit clamp" },
    seeds: { type: "integer", minimum: 1, maximum: 64, default: 10, title: "Seeds" },
    shots: {
      anyOf: [
        { type: "integer", minimum: 0, maximum: 64 },
        { type: "string", const: "auto" },
        { type: "null" },
      ],
      default: null,
      title: "Examples",
    },
    dtype: { type: "string", enum: ["float32", "bfloat16"], default: "float32", title: "Precision" },
  },
};
const PRESETS = { quick: { seeds: 3 }, paper: { seeds: 10 } };
const groups = fieldsOf(SCHEMA, PRESETS);
const fields = groups.flat();
const field = (name: string) => fields.find((one) => one.name === name) as (typeof fields)[number];

describe("a form from a schema", () => {
  it("puts what presets name first", () => {
    expect(groups.map((group) => group.map(({ name }) => name))).toEqual([
      ["seeds"],
      ["clamp", "shots", "dtype"],
    ]);
  });

  it("reads kinds, ranges and what may stay empty", () => {
    expect(field("seeds")).toMatchObject({
      kind: "integer",
      minimum: 1,
      maximum: 64,
      optional: false,
      initial: 10,
    });
    expect(field("shots")).toMatchObject({
      kind: "integer",
      maximum: 64,
      words: ["auto"],
      optional: true,
      initial: null,
    });
    expect(field("dtype")).toMatchObject({ kind: "choice", choices: ["float32", "bfloat16"] });
  });

  it("sends only what differs from the preset", () => {
    const base = presetValues(fields, PRESETS.quick);
    expect(base).toEqual({ seeds: 3, clamp: 4, shots: null, dtype: "float32" });
    expect(overrides({ ...base, shots: 2 }, base)).toEqual({ shots: 2 });
    expect(overrides(base, base)).toEqual({});
  });

  it("turns typing into values", () => {
    expect(typed(field("shots"), "")).toBeNull();
    expect(typed(field("shots"), " auto ")).toBe("auto");
    expect(typed(field("shots"), "au")).toBeNaN();
    expect(typed(field("seeds"), "auto")).toBeNaN();
    expect(typed(field("seeds"), "")).toBeNaN();
    expect(typed(field("seeds"), "5")).toBe(5);
    expect(typed(field("seeds"), "five")).toBeNaN();
    expect(typed(field("dtype"), "bfloat16")).toBe("bfloat16");
  });

  it("says what is wrong with a value, and with nothing else", () => {
    const base = presetValues(fields, PRESETS.quick);
    expect(complaints(SCHEMA, fields, base)).toEqual({});
    expect(complaints(SCHEMA, fields, { ...base, seeds: 0, clamp: Number.NaN, dtype: "int8" })).toEqual({
      seeds: "Must be a whole number from 1 to 64.",
      clamp: "Needs a number from 0 to 50.",
      dtype: "One of float32, bfloat16.",
    });
    expect(complaints(SCHEMA, fields, { ...base, seeds: 1.5, shots: 100 })).toEqual({
      seeds: "Must be a whole number from 1 to 64.",
      shots: "Must be a whole number from 0 to 64, or auto.",
    });
    expect(complaints(SCHEMA, fields, { ...base, shots: "auto" })).toEqual({});
  });

  it("reads lists: numbers with commas, texts by line, pairs as JSON", () => {
    const lists = {
      type: "object",
      properties: {
        layers: { type: "array", items: { type: "integer", minimum: 0 }, default: [], title: "Layers" },
        texts: { anyOf: [{ type: "array", items: { type: "string" } }, { type: "null" }], default: null },
        pairs: { type: "array", items: { $ref: "#/$defs/Pair" }, default: [] },
      },
      $defs: { Pair: { type: "array", items: { type: "string" } } },
    };
    const all = fieldsOf(lists, {}).flat();
    const of = (name: string) => all.find((one) => one.name === name) as (typeof all)[number];
    expect(all.map(({ kind }) => kind)).toEqual(["numbers", "texts", "json"]);
    expect(typed(of("layers"), "1, 2 3")).toEqual([1, 2, 3]);
    expect(typed(of("layers"), "")).toEqual([]);
    expect(typed(of("texts"), "a, b\n\nc")).toEqual(["a, b", "c"]);
    expect(typed(of("texts"), " ")).toBeNull();
    expect(typed(of("pairs"), '[["keep","mind"]]')).toEqual([["keep", "mind"]]);
    expect(typed(of("pairs"), "[[")).toBeNaN();
    const round = (name: string, value: Value) => typed(of(name), textOf(value));
    expect(round("layers", [3, 4])).toEqual([3, 4]);
    expect(round("texts", ["a", "b c"])).toEqual(["a", "b c"]);
    expect(round("pairs", [["a", "b"]])).toEqual([["a", "b"]]);
    expect(complaints(lists, all, { layers: [1, Number.NaN], texts: null, pairs: Number.NaN })).toEqual({
      layers: "Needs numbers separated by commas.",
      pairs: "Needs a JSON list.",
    });
    expect(
      overrides({ layers: [1], texts: null, pairs: [["a"]] }, { layers: [1], texts: null, pairs: [] }),
    ).toEqual({
      pairs: [["a"]],
    });
  });

  it("takes what an address fills in, and only what it has fields for", () => {
    expect(filled(fields, { seeds: "4", dtype: "bfloat16", other: "1", toString: "x" })).toEqual({
      seeds: 4,
      dtype: "bfloat16",
    });
  });
});
