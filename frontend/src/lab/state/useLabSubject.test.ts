import { expect, it } from "vitest";
import { cell, csv } from "./files";
import type { Look } from "./look";
import { scoresCsv, viewJson } from "./useLabSubject";

const SIZES = { layers: 2, heads: 2 };
const LOOK = {
  ...SIZES,
  model: "m",
  tokens: [],
  copies: [],
  loss: Float32Array.of(Number.NaN, 2.5),
  scores: [{ name: "induction", title: "", reading: "", unit: null }],
  values: [Float32Array.of(0.1, 0.2, Number.NaN, 0.4)],
  above: new Map(),
} as unknown as Look;
const GATES = Float32Array.of(1, 0.5, 0, 1);

it("a CSV has a row a head; what has no value is empty", () => {
  expect(scoresCsv(LOOK, GATES)).toBe(
    "layer,head,gate,induction\n0,0,1,0.1\n0,1,0.5,0.2\n1,0,0,\n1,1,1,0.4\n",
  );
});

it("what heads are named by is there with its interval", () => {
  const above = { values: [0.5], low: [0.25], high: [0.75] };
  const [head, row] = scoresCsv(
    { ...LOOK, above: new Map([["induction", above]]) } as unknown as Look,
    Float32Array.of(1),
  ).split("\n");
  expect(head).toBe("layer,head,gate,induction_above,induction,induction_above_low,induction_above_high");
  expect(row).toBe("0,0,1,0.5,0.1,0.25,0.75");
});

it("a JSON can be read by anything: what has no value is null", () => {
  expect(JSON.parse(viewJson(LOOK, GATES, SIZES, undefined))).toMatchObject({
    loss: [null, 2.5],
    scores: {
      induction: [
        [0.1, 0.2],
        [null, 0.4],
      ],
    },
    gates: [
      [1, 0.5],
      [0, 1],
    ],
    under_the_gates: null,
  });
});

it("a cell with a comma, a quote or a line end is quoted", () => {
  expect([cell("a"), cell("a,b"), cell('a"b'), cell("a\nb"), csv([[1, "x"]])]).toEqual([
    "a",
    '"a,b"',
    '"a""b"',
    '"a\nb"',
    "1,x\n",
  ]);
});
