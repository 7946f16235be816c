import { Fragment } from "react";
import type { Token } from "../api/types";
import { tokenTitle, visible } from "./visible";

/** One token; its text enters the page as text nodes only. */
export function TokenView({ token, target = false }: { token: Token; target?: boolean }) {
  const pieces = visible(token);
  const classes = ["token", token.special && "special", target && "target"].filter(Boolean).join(" ");
  return (
    <>
      <span className={classes} title={`${tokenTitle(token)}${target ? " · target: scored" : ""}`}>
        {pieces.length === 0 && <span className="token-mark">∅</span>}
        {pieces.map((piece, i) =>
          piece.kind === "text" ? (
            <Fragment key={i}>{piece.text}</Fragment>
          ) : (
            <span
              key={i}
              className={piece.kind === "hex" || piece.kind === "code" ? "token-code" : "token-mark"}
            >
              {piece.text}
            </span>
          ),
        )}
      </span>
      {pieces.at(-1)?.kind === "newline" ? <br /> : <wbr />}
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
      {tokens.map((token, i) => (
        <TokenView key={i} token={token} target={marked.has(i)} />
      ))}
    </p>
  );
}
