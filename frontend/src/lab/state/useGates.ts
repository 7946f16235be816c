// The current gates: ahead of the address while they are moved, in it when the movement is over.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import type { ApiError } from "../../api/errors";
import { labQueries } from "../../api/lab";
import type { GateVector } from "../../api/labTypes";
import { decode } from "../../plot/arrays";
import type { LabView } from "../../url/lab";
import {
  changedTo,
  fromParam,
  type GateState,
  type History,
  redone,
  type Sizes,
  started,
  toParam,
  undone,
} from "./gates";
import type { GateHistory, Lab } from "./useLab";

const NO_GATES: GateState = new Float32Array(0);

interface Held {
  model: string;
  /** What the address said of gates when these were set. */
  address: string;
  history: History;
}

function addressOf(view: Pick<LabView, "mute" | "gates">): string {
  return `${view.gates ?? ""}|${view.mute ?? ""}`;
}

function gatesOf(vector: GateVector, { layers, heads }: Sizes): GateState | null {
  const { values } = decode(vector.gates);
  return values.length === layers * heads ? Float32Array.from(values) : null;
}

interface GatesInHand {
  gates: GateState;
  setGates: Lab["setGates"];
  history: GateHistory;
  gatesError: ApiError | null;
}

export function useGates(model: string, sizes: Sizes | null, view: LabView, move: Lab["move"]): GatesInHand {
  const [held, setHeld] = useState<Held | null>(null);
  const vector = useQuery({
    ...labQueries.gateVector(view.gates ?? ""),
    enabled: view.gates !== null && sizes !== null,
  });
  const address = addressOf(view);
  const history = useMemo(() => {
    if (held && held.model === model && held.address === address) return held.history;
    const asAddressed =
      sizes && (view.gates ? vector.data && gatesOf(vector.data, sizes) : fromParam(view.mute, sizes));
    const mine = held?.model === model ? held.history : null;
    if (!asAddressed) return mine ?? started(sizes ? fromParam(null, sizes) : NO_GATES);
    return mine ? changedTo(mine, asAddressed) : started(asAddressed);
  }, [held, model, address, sizes, view.gates, view.mute, vector.data]);

  const now = useRef({ history, address, sizes, model, move });
  now.current = { history, address, sizes, model, move };

  const hold = useCallback((next: History, address: string) => {
    now.current = { ...now.current, history: next, address };
    setHeld({ model: now.current.model, address, history: next });
  }, []);

  /** Set these, and write them to the address. */
  const settle = useCallback(
    (next: History) => {
      const { sizes, move } = now.current;
      if (!sizes) return;
      const mute = toParam(next.present, sizes) || null;
      hold(next, addressOf({ mute, gates: null }));
      move({ mute, gates: null }, { replace: true });
    },
    [hold],
  );

  const setGates = useCallback<Lab["setGates"]>(
    (next, { step = true } = {}) => {
      const after = changedTo(now.current.history, next, { step });
      if (step) settle(after);
      else hold(after, now.current.address);
    },
    [hold, settle],
  );
  const undo = useCallback(() => settle(undone(now.current.history)), [settle]);
  const redo = useCallback(() => settle(redone(now.current.history)), [settle]);
  return {
    gates: history.present,
    setGates,
    history: {
      canUndo: history.past.length > 0 || history.began !== null,
      canRedo: history.future.length > 0,
      undo,
      redo,
    },
    gatesError: vector.error,
  };
}
