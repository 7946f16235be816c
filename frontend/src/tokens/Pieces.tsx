import type { Piece } from "./visible";

const CLASSES: Record<Exclude<Piece["kind"], "text">, string> = {
  space: "token-mark",
  newline: "token-mark",
  tab: "token-mark",
  code: "token-code",
  hex: "token-code",
  part: "token-code",
};

/** Visible pieces as text nodes, what stands for something told from the text itself. */
export function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  if (pieces.length === 0) return <span className="token-mark">∅</span>;
  return pieces.map((piece, i) =>
    piece.kind === "text" ? (
      piece.text
    ) : (
      <span key={i} className={CLASSES[piece.kind]}>
        {piece.text}
      </span>
    ),
  );
}

/** Where a line may be broken after these pieces, and where it ends. */
export function Break({ pieces }: { pieces: readonly Piece[] }) {
  return pieces.at(-1)?.kind === "newline" ? <br /> : <wbr />;
}
