// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import type { Token } from "../api/types";
import { TokenText } from "./TokenText";
import { tokenTitle, visible } from "./visible";

function token(text: string | null, hex = "", special = false): Token {
  return { id: 7, start: 0, end: 1, text, hex, special };
}

const written = (text: string) =>
  visible(token(text))
    .map((piece) => piece.text)
    .join("");

describe("a token's look", () => {
  it.each([
    [" cats", "·cats"],
    ["a  b", "a··b"],
    ["\n\n", "↵↵"],
    ["\tx", "⇥x"],
    ["é", "é"],
    ["🙂", "🙂"],
    ["\u202e", "U+202E"],
    ["\u200b", "U+200B"],
    ["\u00a0", "U+00A0"],
    ["\u0000", "U+0000"],
  ])("shows %j as %s", (text, shown) => expect(written(text)).toBe(shown));

  it("shows bytes that are no character as hexadecimal", () => {
    expect(visible(token(null, "f09f"))).toEqual([{ kind: "hex", text: "f0 9f" }]);
  });

  it("says its id and its bytes", () => {
    expect(tokenTitle(token("a", "61", true))).toBe("token 7, special · bytes 61");
  });
});

describe("tokens on the page", () => {
  afterEach(cleanup);

  it("are text and never markup", () => {
    const { container } = render(
      <TokenText tokens={[token("<img src=x onerror=alert(1)>"), token("<|endoftext|>", "", true)]} />,
    );
    expect(container.querySelector("img")).toBeNull();
    expect(container.textContent).toContain("<img·src=x·onerror=alert(1)>");
    expect(container.querySelector(".special")?.textContent).toBe("<|endoftext|>");
  });

  it("mark the target, and break the line after a line break", () => {
    const { container } = render(<TokenText tokens={[token("A:\n"), token(" cats")]} targets={[1]} />);
    expect([...container.querySelectorAll(".target")].map((element) => element.textContent)).toEqual([
      "·cats",
    ]);
    expect(container.querySelectorAll("br")).toHaveLength(1);
  });

  it("show a token of no bytes", () => {
    const { container } = render(<TokenText tokens={[token("")]} />);
    expect(container.textContent).toBe("∅");
  });
});
