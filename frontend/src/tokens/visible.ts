// What a token's bytes look like when nothing may be invisible.
import type { Token } from "../api/types";

export interface Piece {
  kind: "text" | "space" | "newline" | "tab" | "code" | "hex";
  text: string;
}

// Control and format characters, separators other than the space, lone surrogates, unassigned: they have
// no shape of their own, and some (bidirectional overrides) would disturb the text around them.
const SHAPELESS = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function pieceOf(character: string): Piece {
  if (character === " ") return { kind: "space", text: "·" };
  if (character === "\n") return { kind: "newline", text: "↵" };
  if (character === "\t") return { kind: "tab", text: "⇥" };
  if (SHAPELESS.test(character)) return { kind: "code", text: codePoint(character) };
  return { kind: "text", text: character };
}

/** A token in visible pieces, neighbours of one kind joined. Bytes that aren't text by themselves are hexadecimal. */
export function visible({ text, hex }: Pick<Token, "text" | "hex">): Piece[] {
  if (text === null) return [{ kind: "hex", text: (hex.match(/../g) ?? [hex]).join(" ") }];
  const pieces: Piece[] = [];
  for (const character of text) {
    const piece = pieceOf(character);
    const last = pieces.at(-1);
    if (last && last.kind === piece.kind && piece.kind === "text") last.text += piece.text;
    else pieces.push(piece);
  }
  return pieces;
}

/** The token in words, for a tooltip: its id and its bytes. */
export function tokenTitle({ id, hex, special }: Token): string {
  return `token ${id}${special ? ", special" : ""} · bytes ${(hex.match(/../g) ?? ["none"]).join(" ")}`;
}

/** A token's visible pieces as one string, for where only words can stand. */
export function written(token: Pick<Token, "text" | "hex">): string {
  return (
    visible(token)
      .map((piece) => piece.text)
      .join("") || "∅"
  );
}
