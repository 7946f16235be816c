// @vitest-environment jsdom
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Token } from "../api/types";
import { answering } from "../testing/network";
import { renderPart, textOf } from "../testing/page";
import { glyphTokens, token } from "../testing/samples";
import { runs } from "./glyphs";
import { plainText } from "./plain";
import { TokenText, TokenView } from "./TokenText";
import { tokenTitle, visible, visibleText, written, writtenShort } from "./visible";

const SUN = glyphTokens("日", [0xe6, 0x97, 0xa5]);

function show(tokens: readonly Token[], targets: readonly number[] = []) {
  answering({});
  return renderPart(<TokenText tokens={tokens} targets={targets} />).container;
}

describe("tokens that share a character", () => {
  it("are put together, the others stay alone", () => {
    const found = runs([token(1, "a"), ...SUN, token(2, "b")]);
    expect(found.map(({ first, tokens, glyph }) => [first, tokens.length, glyph])).toEqual([
      [0, 1, null],
      [1, 3, "日"],
      [4, 1, null],
    ]);
  });

  it("lie under the character, each with its bytes on demand and its mark", () => {
    const container = show([token(1, "a"), ...SUN], [2]);
    const glyph = container.querySelector(".glyph") as HTMLElement;
    expect(textOf(glyph)).toBe("日");
    expect(glyph.style.getPropertyValue("--parts")).toBe("3");
    const boxes = [...glyph.querySelectorAll(".token")];
    expect(boxes.map((box) => box.getAttribute("title"))).toEqual([
      "token 40 · bytes e6 · part 1 of 3 of 日",
      "token 41 · bytes 97 · part 2 of 3 of 日 · target: scored",
      "token 42 · bytes a5 · part 3 of 3 of 日",
    ]);
    expect(boxes.map((box) => box.classList.contains("target"))).toEqual([false, true, false]);
    expect(textOf(container)).toBe("a日");
  });

  it("are called by it and their part where one stands alone", () => {
    const [, second] = SUN as [Token, Token, Token];
    answering({});
    const { container } = renderPart(<TokenView token={second} />);
    expect(textOf(container)).toBe("日 2/3");
    expect(written(second)).toBe("日 2/3");
    expect(tokenTitle(second)).toContain("bytes 97");
  });

  it("end with the list, where it is cut short", () => {
    expect(runs(SUN.slice(0, 2)).map(({ tokens }) => tokens.length)).toEqual([2]);
    expect(runs(SUN.slice(1)).map(({ glyph }) => glyph)).toEqual([null, null]);
  });

  it("are copied as the character", () => expect(plainText([token(1, "a"), ...SUN])).toBe("a日"));

  it("hide nothing: what has no shape is named in a glyph too", () => {
    const [first] = glyphTokens(" \u202e", [0x20, 0xe2, 0x80]);
    expect(written(first as Token)).toBe("·U+202E 1/3");
  });

  it("are all of a list, in order", () =>
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 8 }), (lengths) => {
        const tokens = lengths.flatMap((parts, i) =>
          parts === 1
            ? [token(i, "a")]
            : glyphTokens(
                "日",
                Array.from({ length: parts }, () => 0x80),
              ),
        );
        const found = runs(tokens);
        expect(found.map(({ tokens }) => tokens.length)).toEqual(lengths);
        expect(found.flatMap(({ tokens }) => tokens)).toEqual(tokens);
      }),
    ));
});

describe("a name in little room", () => {
  it.each([
    [token(1, " old"), "·old"],
    [token(1, "internationally"), "internat…"],
    [glyphTokens("👨\u200d👩\u200d👧", [0xf0, 0x9f])[1], "👨\u200d👩\u200d👧 2/2"],
    [glyphTokens("приветик", [0xd0, 0x9f])[0], "прив… 1/2"],
  ] as [Token, string][])("keeps which part it is", (one, name) => expect(writtenShort(one, 9)).toBe(name));
});

describe("a sign of several characters", () => {
  it("stays one where a joiner makes it so", () => {
    expect(visibleText("👩\u200d🚀")).toEqual([{ kind: "text", text: "👩\u200d🚀" }]);
    expect(visibleText("a\u200db").map(({ text }) => text)).toEqual(["a", "U+200D", "b"]);
  });

  it("stands on a ring where its letter is another token's", () =>
    expect(visible(token(1, "\u0301"))).toEqual([{ kind: "text", text: "◌\u0301" }]));
});
