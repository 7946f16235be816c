// What a token's bytes look like when nothing may be invisible.
import type { Token } from "../api/types";

export interface Piece {
  /** A part: which of the tokens that share the text before it this is. */
  kind: "text" | "space" | "newline" | "tab" | "code" | "hex" | "part";
  text: string;
}

// Control and format characters, separators other than the space, lone surrogates, unassigned: they have
// no shape of their own, and some (bidirectional overrides) would disturb the text around them.
const SHAPELESS = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

// What joins emoji, or letters behind a virama, to one sign; anywhere else a joiner is invisible.
const JOINED = /(?<=[\p{So}\p{Sk}\p{Mn}])\u200d(?=[\p{So}\p{Lo}])/gu;

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

type Shown = Pick<Token, "text" | "hex" | "glyph">;

/** A text in visible pieces, neighbours of one kind joined; an accent without its letter stands on a ring. */
export function visibleText(text: string): Piece[] {
  const seen = /^\p{M}/u.test(text) ? `◌${text}` : text;
  const joins = new Set(Array.from(seen.matchAll(JOINED), ({ index }) => index));
  const pieces: Piece[] = [];
  let at = 0;
  for (const character of seen) {
    const piece: Piece = joins.has(at) ? { kind: "text", text: character } : pieceOf(character);
    const last = pieces.at(-1);
    if (last && last.kind === piece.kind && piece.kind === "text") last.text += piece.text;
    else pieces.push(piece);
    at += character.length;
  }
  return pieces;
}

/** A token in visible pieces: its text, or what it shares and which part it is, or its bytes in hexadecimal. */
export function visible({ text, hex, glyph }: Shown): Piece[] {
  if (glyph) return [...visibleText(glyph.text), { kind: "part", text: partOf(glyph) }];
  if (text === null) return [{ kind: "hex", text: spaced(hex) }];
  return visibleText(text);
}

/** Bytes two digits at a time. */
export function spaced(hex: string): string {
  return (hex.match(/../g) ?? [hex]).join(" ");
}

/** The token in words, for a tooltip: its id, its bytes, and what it is part of. */
export function tokenTitle({ id, hex, special, glyph, unknown }: Token): string {
  const kind = special ? ", special" : unknown ? ", unknown to the vocabulary" : "";
  const bytes = `token ${id}${kind} · bytes ${spaced(hex) || "none"}`;
  return glyph
    ? `${bytes} · part ${glyph.part} of ${glyph.parts} of ${inWords(visibleText(glyph.text))}`
    : bytes;
}

/** A token's visible pieces as one string, for where only words can stand. */
export function written(token: Shown): string {
  return inWords(visible(token)) || "∅";
}

/** The same in at most so many characters, as they are seen; which part of a glyph it is stays. */
export function writtenShort(token: Shown, most: number): string {
  const part = token.glyph ? partOf(token.glyph) : "";
  const name = written(token);
  const seen = Array.from(new Intl.Segmenter().segment(name.slice(0, name.length - part.length)));
  if (seen.length + part.length <= most) return name;
  return `${seen
    .slice(0, Math.max(1, most - part.length - 1))
    .map(({ segment }) => segment)
    .join("")}…${part}`;
}

function inWords(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join("");
}

function partOf({ part, parts }: { part: number; parts: number }): string {
  return ` ${part}/${parts}`;
}
