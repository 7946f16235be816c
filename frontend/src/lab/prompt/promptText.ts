// What keeps a text from being a prompt at all, said before anything is sent.
import { count } from "../../format/numbers";

/** The server takes as many characters in one prompt. */
export const MOST_CHARACTERS = 400_000;

/** What is wrong with a text and what to do about it; null where nothing is. */
export function faultOf(text: string): { wrong: string; remedy: string } | null {
  // A character beyond the first 65,536 is two units of a JavaScript text: count only where it may matter.
  const length = text.length > MOST_CHARACTERS ? [...text].length : text.length;
  if (length > MOST_CHARACTERS) {
    return {
      wrong: `The text has ${count(length)} characters; a prompt has ${count(MOST_CHARACTERS)} at most.`,
      remedy: "Shorten it, or put its parts in a file with one prompt per line.",
    };
  }
  const half = halfCharacter(text);
  if (half !== null) {
    return {
      wrong: `Character ${count(half + 1)} is a lone surrogate: it can’t be encoded as UTF-8.`,
      remedy: "Delete it; text cut in the middle of an emoji has one at its end.",
    };
  }
  const nul = text.indexOf("\0");
  if (nul < 0) return null;
  return { wrong: `Character ${count(nul + 1)} is NUL (U+0000).`, remedy: "Delete it." };
}

/** Where half of a surrogate pair stands alone; null where none does. */
function halfCharacter(text: string): number | null {
  const at = text.search(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
  return at < 0 ? null : at;
}
