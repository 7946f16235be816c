import { Board } from "./board/Board";
import { Attribution } from "./effects/Attribution";
import { Continuation } from "./effects/Continuation";
import { Lens } from "./effects/Lens";
import { NextTokens } from "./effects/NextTokens";
import { useLab } from "./state/useLab";
import { useLabSubject } from "./state/useLabSubject";

/** Beside the tokens and the patterns: the current gates and what they do. */
export function SideColumn() {
  const { readOnly } = useLab();
  useLabSubject();
  return (
    <>
      <Board />
      <NextTokens />
      {!readOnly && (
        <>
          <Continuation />
          <Attribution />
          <Lens />
        </>
      )}
    </>
  );
}
