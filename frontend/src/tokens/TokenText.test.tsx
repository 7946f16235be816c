// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { answering } from "../testing/network";
import { renderPart, textOf } from "../testing/page";
import { token } from "../testing/samples";
import { TokenText, TokenView } from "./TokenText";

function show(part: Parameters<typeof renderPart>[0]) {
  answering({});
  const { container } = renderPart(part);
  return container;
}

const kinds = (container: HTMLElement) =>
  [...container.querySelectorAll(".token span")].map((mark) => [mark.className, mark.textContent]);

describe("a token", () => {
  it("tells marks that stand for something from the text itself", () => {
    expect(kinds(show(<TokenView token={token(1, "a b\tc\u200b")} />))).toEqual([
      ["token-mark", "·"],
      ["token-mark", "⇥"],
      ["token-code", "U+200B"],
    ]);
  });

  it("that is part of a character is its bytes", () => {
    const half = { ...token(1, ""), text: null, hex: "f09f" };
    expect(kinds(show(<TokenView token={half} />))).toEqual([["token-code", "f0 9f"]]);
  });

  it("says its id and bytes, and that it is scored, where one points at it", () => {
    const container = show(<TokenView token={token(7, " a")} target />);
    expect(container.querySelector(".token.target")?.getAttribute("title")).toBe(
      "token 7 · bytes 20 61 · target: scored",
    );
  });

  it("may be broken after, but a line ends where the text's does", () => {
    const container = show(
      <TokenText tokens={[token(1, "a\n"), token(2, "b"), token(3, " c")]} targets={[2]} />,
    );
    expect([container.querySelectorAll("br").length, container.querySelectorAll("wbr").length]).toEqual([
      1, 2,
    ]);
    expect(textOf(container.querySelector(".target"))).toBe("·c");
  });
});
