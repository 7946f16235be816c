import { expect, it } from "vitest";
import { faultOf, MOST_CHARACTERS } from "./promptText";

it.each<[string, string, RegExp | null]>([
  ["plain text", "The old wizard", null],
  ["emoji and other scripts", "🙂 שלום 漢字 e\u0301", null],
  ["a high surrogate alone", "ab\ud83d", /Character 3 is a lone surrogate/],
  ["a low surrogate alone", "\ude42ab", /Character 1 is a lone surrogate/],
  ["two in the wrong order", "a\ude42\ud83d", /Character 2 is a lone surrogate/],
  ["NUL", "a\0", /Character 2 is NUL/],
  ["as long as may be", "x".repeat(MOST_CHARACTERS), null],
  ["as long as may be, of emoji", "🙂".repeat(MOST_CHARACTERS), null],
  ["a megabyte without spaces", "x".repeat(1_000_000), /1,000,000 characters; a prompt has 400,000 at most/],
])("says what keeps a text from being a prompt: %s", (_, text, says) => {
  const fault = faultOf(text);
  if (says === null) expect(fault).toBeNull();
  else expect(fault?.wrong).toMatch(says);
});
