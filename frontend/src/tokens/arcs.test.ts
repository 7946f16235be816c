import { describe, expect, it } from "vitest";
import { arcs, type Box, MOST_ARCS, rise, shownArcs } from "./arcs";
import { plainText } from "./plain";

const box = (left: number, top: number): Box => ({ left, top, width: 20, height: 24 });

describe("arcs", () => {
  it("join a token to its latest copy, from the middle of one to the middle of the other", () => {
    const boxes = [box(0, 30), box(40, 30), box(80, 30)];
    const [arc, ...rest] = arcs(boxes, [[], [], [0, 1]], 26);
    expect(rest).toEqual([]);
    expect(arc).toMatchObject({ from: 1, to: 2 });
    expect(arc?.path).toMatch(/^M50 30C50 .* 90 30$/);
  });

  it("rise over the higher line where the tokens lie on two", () => {
    const [arc] = arcs([box(200, 30), box(0, 70)], [[], [0]], 26);
    const heights = [...(arc?.path.matchAll(/(-?[\d.]+) (-?[\d.]+)/g) ?? [])].map((pair) => Number(pair[2]));
    expect(heights[0]).toBe(30);
    expect(heights.at(-1)).toBe(70);
    expect(Math.min(...heights)).toBeLessThan(30);
  });

  it("stay in the room between lines, however far they reach", () => {
    expect(rise(2000, 400, 26)).toBe(26);
    expect(rise(10, 0, 26)).toBeLessThan(26);
  });

  it("are left out for what isn't on the page", () =>
    expect(arcs([undefined, box(0, 0)], [[], [0]], 26)).toEqual([]));

  it("are all shown while they are few, and only the token's own among many", () => {
    const many = Array.from({ length: MOST_ARCS + 1 }, (_, i) => ({ from: i, to: i + 1, path: "" }));
    expect(shownArcs(many.slice(1), null)).toHaveLength(MOST_ARCS);
    expect(shownArcs(many, null)).toEqual([]);
    expect(shownArcs(many, 5).map(({ to }) => to)).toEqual([5, 6]);
  });
});

describe("copied tokens", () => {
  const token = (hex: string, text: string | null, special = false) => ({
    id: 1,
    start: 0,
    end: 1,
    text,
    hex,
    special,
  });
  it("are the true text: bytes of one character join, special tokens are left out", () => {
    const tokens = [
      token("3c733e", "<s>", true),
      token("2061", " a"),
      token("f09f", null),
      token("9982", null),
    ];
    expect(plainText(tokens)).toBe(" a🙂");
  });
});
