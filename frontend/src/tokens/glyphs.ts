// Tokens that share a character: 日 over its three. The server says which do; here they are put side by side.
import type { Token } from "../api/types";

export interface Run {
  /** Where its first token stands. */
  first: number;
  tokens: readonly Token[];
  /** What they share; null of a token that is text by itself. */
  glyph: string | null;
}

/** Tokens one by one, but those of one glyph together. A glyph cut off by the list's end is its tokens so far. */
export function runs(tokens: readonly Token[]): Run[] {
  const found: Run[] = [];
  for (let first = 0; first < tokens.length; ) {
    const glyph = tokens[first]?.glyph;
    const parts = glyph?.part === 1 ? glyph.parts : 1;
    found.push({
      first,
      tokens: tokens.slice(first, first + parts),
      glyph: parts > 1 ? (glyph?.text ?? null) : null,
    });
    first += parts;
  }
  return found;
}
