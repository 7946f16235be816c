// What the current gates do, asked as the hand moves: one question on its way, the newest next.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useConnection } from "../../api/connection";
import type { ApiError } from "../../api/errors";
import { labApi } from "../../api/lab";
import type { GatesOut, LabAsk } from "../../api/labTypes";
import type { Closed } from "../../url/lab";
import { type GateState, type Sizes, toRows } from "./gates";
import { Latest } from "./latest";
import type { Gated } from "./useLab";

type Question = Parameters<typeof labApi.gates>[0];

interface Heard {
  /** The prompt and what is read of it: another one's answer is not shown. */
  of: string;
  data?: GatesOut;
  error?: ApiError;
}

function subject({ gates: _, ...rest }: Question): string {
  return JSON.stringify(rest);
}

export function useGated(
  ask: LabAsk | null,
  sizes: Sizes | null,
  gates: GateState,
  at: number | null,
  answers: number[],
  closed: Closed | null,
): Gated {
  const { returns } = useConnection();
  const [turn, setTurn] = useState(0);
  const [heard, setHeard] = useState<Heard>();
  const [busy, setBusy] = useState(false);
  const line = useRef<Latest<Question, GatesOut>>(null);
  const key = JSON.stringify([ask, at, answers, closed]);
  const question = useMemo<Question | null>(() => {
    if (!ask || !sizes || gates.length !== sizes.layers * sizes.heads) return null;
    const [asked, position, followed, inside] = JSON.parse(key) as [
      LabAsk,
      number | null,
      number[],
      Closed | null,
    ];
    return { ...asked, ...inside, gates: toRows(gates, sizes), top: 10, at: position, answers: followed };
  }, [ask, sizes, gates, key]);

  useEffect(() => {
    const latest = new Latest<Question, GatesOut>((input, signal) => labApi.gates(input, signal), {
      onAnswer: (data, input) => setHeard({ of: subject(input), data }),
      onError: (error, input) =>
        setHeard((last) => {
          const of = subject(input);
          const kept = last?.of === of ? last.data : undefined;
          return { of, error, ...(kept && { data: kept }) };
        }),
      onBusy: setBusy,
    });
    line.current = latest;
    return () => latest.drop();
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a retry and a server come back ask again
  useEffect(() => {
    if (question) line.current?.want(question);
    else line.current?.drop();
  }, [question, turn, returns]);

  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const mine = question && heard?.of === subject(question) ? heard : undefined;
  return {
    data: mine?.data,
    error: mine?.error ?? null,
    busy: busy || (question !== null && mine === undefined),
    reload,
  };
}
