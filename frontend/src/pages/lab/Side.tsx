import { useLab } from "../../lab/state";
import { useLabSubject } from "../../lab/useLabSubject";
import { Attribution } from "./Attribution";
import { Board } from "./Board";
import { Continuation } from "./Continuation";
import { Lens } from "./Lens";
import { NextTokens } from "./NextTokens";
import "../../styles/board.css";

/** Beside the tokens and the patterns: the gates in hand and what they do. */
export function Side() {
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
