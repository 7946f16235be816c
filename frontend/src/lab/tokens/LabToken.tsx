import { type CSSProperties, memo } from "react";
import type { Token } from "../../api/types";
import { Break, Pieces } from "../../tokens/Pieces";
import { tokenTitle, visible } from "../../tokens/visible";

/** Nats at which an underline is as wide as its token. */
export const FULL_LOSS = 10;

interface LabTokenProps {
  token: Token;
  at: number;
  before: number | null;
  /** Under the gates, where any is changed. */
  after: number | null;
  /** Its glyph is drawn over it and its neighbours: the box is empty. */
  part?: boolean;
}

function share(loss: number | null): string | undefined {
  return loss === null || Number.isNaN(loss) ? undefined : `${Math.min(1, loss / FULL_LOSS) * 100}%`;
}

/** One token with the model's surprise as underlines; its text enters the page as text nodes only. */
export const LabToken = memo(function LabToken({ token, at, before, after, part = false }: LabTokenProps) {
  const pieces = visible(token);
  return (
    <>
      <span
        className={`lab-token${token.special ? " special" : ""}${token.unknown ? " unknown" : ""}`}
        data-token={at}
        title={part ? tokenTitle(token) : undefined}
        style={{ "--before": share(before) ?? "0%", "--after": share(after) ?? "0%" } as CSSProperties}
      >
        {!part && <Pieces pieces={pieces} />}
      </span>
      {!part && <Break pieces={pieces} />}
    </>
  );
});
