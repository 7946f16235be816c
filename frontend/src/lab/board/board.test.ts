import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allOpen, changed, indexOf, set } from "../state/gates";
import type { Look } from "../state/look";
import { boardScore, faderHeads, gatesInWords, muted, namesOf, randomOfSameSize } from "./board";

const SIZES = { layers: 3, heads: 4 };

function look(values: number[], name = "induction"): Look {
  return {
    ...SIZES,
    scores: [{ name, title: "Induction", reading: "", unit: null }],
    values: [Float32Array.from(values)],
    above: new Map(),
  } as unknown as Look;
}

const RISING = Array.from({ length: 12 }, (_, at) => at / 10);

describe("the board's order", () => {
  it("has the strongest first, what has no value last", () => {
    const score = boardScore(look([0.2, Number.NaN, 0.9, ...Array(9).fill(0.1)]), "induction");
    expect(score?.order.slice(0, 2)).toEqual([2, 0]);
    expect(score?.order.at(-1)).toBe(1);
    expect(Array.from(score?.shades.slice(0, 3) ?? [])).toEqual(
      [Math.fround(0.2) / Math.fround(0.9), 0, 1].map(Math.fround),
    );
  });

  it("shades a head that looks at one token the darkest by entropy", () => {
    const score = boardScore(look([0, 2, ...Array(10).fill(1)], "entropy"), "entropy");
    expect(score?.order[0]).toBe(0);
    expect(Array.from(score?.shades.slice(0, 2) ?? [])).toEqual([1, 0]);
  });

  it("follows induction where the page goes layer by layer", () => {
    expect(boardScore(look(RISING), "layer")?.order[0]).toBe(11);
  });
});

describe("the faders", () => {
  const order = RISING.map((_, i) => 11 - i);

  it("stand in the score's order: changed heads, the selected one, the strongest", () => {
    const gates = set(allOpen(SIZES), [3], 0);
    const { shown, more } = faderHeads(order, gates, new Set([7]), 0, 5);
    expect(shown).toEqual([11, 10, 7, 3, 0]);
    expect(more).toBe(0);
  });

  it("keep under the hand a head that is open again", () => {
    expect(faderHeads(order, allOpen(SIZES), new Set([2]), null, 3).shown).toContain(2);
  });

  it("say how many changed heads have none", () => {
    const { shown, more } = faderHeads(order, muted(SIZES, order), new Set(), null, 5);
    expect([shown.length, more]).toEqual([5, 7]);
  });
});

describe("gates", () => {
  it("at random mute as many heads as were changed", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 11 })), (heads) => {
        const drawn = randomOfSameSize(muted(SIZES, heads), SIZES);
        expect(changed(drawn)).toHaveLength(heads.length);
      }),
    );
  });

  it.each([
    [allOpen(SIZES), "all open"],
    [muted(SIZES, [1]), "1 head muted"],
    [muted(SIZES, [1, 2, 3]), "3 heads muted"],
    [set(allOpen(SIZES), [1], 0.5), "1 head lowered"],
    [set(muted(SIZES, [1, 2]), [4], 0.5), "2 muted, 1 lowered"],
  ])("in words", (gates, words) => expect(gatesInWords(gates)).toBe(words));

  it("are named, the first few", () => {
    const at = [0, 1, 2].map((layer) => indexOf(SIZES, { layer, head: 3 }));
    expect(namesOf(SIZES, at)).toBe("0.3, 1.3, 2.3");
    expect(namesOf(SIZES, at, 2)).toBe("0.3, 1.3 and 1 more");
  });
});
