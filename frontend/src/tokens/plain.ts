// The text that tokens stand for, as a reader wants it in the clipboard: true bytes, special tokens left out.
import type { Token } from "../api/types";

function bytesOf({ text, hex }: Token): number[] {
  if (text !== null && hex === "") return [...new TextEncoder().encode(text)];
  return (hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
}

export function plainText(tokens: readonly Token[]): string {
  const bytes = tokens.filter(({ special }) => !special).flatMap(bytesOf);
  return new TextDecoder("utf-8").decode(Uint8Array.from(bytes));
}
