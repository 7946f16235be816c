import type { CSSProperties, ReactNode } from "react";
import type { Token } from "../api/types";
import { runs } from "./glyphs";
import { Break, Pieces } from "./Pieces";
import { tokenTitle, visible, visibleText } from "./visible";

interface TokenProps {
  token: Token;
  target?: boolean;
}

/** One token; its text enters the page as text nodes only. */
export function TokenView({ token, target = false }: TokenProps) {
  const pieces = visible(token);
  return (
    <>
      <TokenBox token={token} target={target}>
        <Pieces pieces={pieces} />
      </TokenBox>
      <Break pieces={pieces} />
    </>
  );
}

function TokenBox({ token, target = false, children }: TokenProps & { children?: ReactNode }) {
  const marks = [token.special && "special", token.unknown && "unknown", target && "target"];
  const classes = ["token", ...marks].filter(Boolean).join(" ");
  return (
    <span className={classes} title={`${tokenTitle(token)}${target ? " · target: scored" : ""}`}>
      {children}
    </span>
  );
}

interface GlyphViewProps {
  glyph: string;
  /** How many tokens share it, and their boxes. */
  parts: number;
  children: ReactNode;
}

/** A character over the boxes of the tokens that share it. */
export function GlyphView({ glyph, parts, children }: GlyphViewProps) {
  const pieces = visibleText(glyph);
  return (
    <>
      <span className="glyph" style={{ "--parts": parts } as CSSProperties}>
        <span className="glyph-text">
          <Pieces pieces={pieces} />
        </span>
        <span className="glyph-boxes">{children}</span>
      </span>
      <Break pieces={pieces} />
    </>
  );
}

/** Tokens in a row, the targets marked. */
export function TokenText({
  tokens,
  targets = [],
}: {
  tokens: readonly Token[];
  targets?: readonly number[];
}) {
  const marked = new Set(targets);
  return (
    <p className="tokens">
      {runs(tokens).map(({ first, tokens: shared, glyph }) =>
        glyph === null ? (
          shared.map((token) => <TokenView key={first} token={token} target={marked.has(first)} />)
        ) : (
          <GlyphView key={first} glyph={glyph} parts={shared.length}>
            {shared.map((token, i) => (
              <TokenBox key={i} token={token} target={marked.has(first + i)} />
            ))}
          </GlyphView>
        ),
      )}
    </p>
  );
}
