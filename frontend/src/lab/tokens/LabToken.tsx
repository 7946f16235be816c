import { Fragment, memo } from "react";
import type { Token } from "../../api/types";
import { visible } from "../../tokens/visible";

/** Nats at which an underline is as wide as its token. */
export const FULL_LOSS = 10;

interface LabTokenProps {
  token: Token;
  at: number;
  before: number | null;
  /** Under the gates, where any is changed. */
  after: number | null;
}

function share(loss: number | null): string | undefined {
  return loss === null || Number.isNaN(loss) ? undefined : `${Math.min(1, loss / FULL_LOSS) * 100}%`;
}

/** One token with the model's surprise as underlines; its text enters the page as text nodes only. */
export const LabToken = memo(function LabToken({ token, at, before, after }: LabTokenProps) {
  const pieces = visible(token);
  return (
    <>
      <span
        className={token.special ? "lab-token special" : "lab-token"}
        data-token={at}
        style={{ "--before": share(before) ?? "0%", "--after": share(after) ?? "0%" } as React.CSSProperties}
      >
        {pieces.length === 0 && <span className="token-mark">∅</span>}
        {pieces.map((piece, i) => (
          <Fragment key={i}>
            {piece.kind === "text" ? (
              piece.text
            ) : (
              <span className={piece.kind === "hex" || piece.kind === "code" ? "token-code" : "token-mark"}>
                {piece.text}
              </span>
            )}
          </Fragment>
        ))}
      </span>
      {pieces.at(-1)?.kind === "newline" ? <br /> : <wbr />}
    </>
  );
});
