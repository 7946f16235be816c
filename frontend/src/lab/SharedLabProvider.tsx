import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { SharedLab } from "../api/labTypes";
import type { Resource } from "../api/resource";
import { decode } from "../plot/arrays";
import { DEFAULT_LAB, type LabView, parseLab } from "../url/lab";
import { has } from "./gates";
import { readLook } from "./look";
import { type Lab, LabContext } from "./state";

const NOTHING_TO_UNDO = { canUndo: false, canRedo: false, undo: () => {}, redo: () => {} };

function settled<T>(data: T): Resource<T> {
  return { data, error: undefined, loading: false, reload: () => {} };
}

interface SharedLabProviderProps {
  shared: SharedLab;
  /** How it was looked at when it was shared. */
  view: Record<string, string>;
  children: ReactNode;
}

/** The lab's parts over what a share keeps: to look at, with no worker behind it. */
export function SharedLabProvider({ shared, view: kept, children }: SharedLabProviderProps) {
  const look = useMemo(() => readLook(shared.look), [shared.look]);
  const gates = useMemo(() => Float32Array.from(decode(shared.gate_values).values), [shared.gate_values]);
  const [view, setView] = useState<LabView>(() => ({
    ...parseLab(new URLSearchParams(kept)),
    model: shared.model,
    answers: shared.gates.answers.map(({ token }) => token.id),
    at: shared.gates.at === look.tokens.length - 1 ? null : shared.gates.at,
  }));
  const move = useCallback<Lab["move"]>((change) => setView((last) => ({ ...last, ...change })), []);
  const sizes = useMemo(() => ({ layers: look.layers, heads: look.heads }), [look]);
  const lab: Lab = {
    view: { ...DEFAULT_LAB, ...view },
    move,
    models: [],
    model: undefined,
    sizes,
    examples: settled([]),
    prompt: { text: shared.text, stored: null, example: null, error: undefined, reload: () => {} },
    ask: null,
    look: settled(look),
    looking: false,
    gates,
    setGates: () => {},
    history: NOTHING_TO_UNDO,
    gatesError: undefined,
    gated: { data: shared.gates, error: undefined, busy: false, reload: () => {} },
    head: view.head && has(sizes, view.head) ? view.head : null,
    select: (head) => move({ head }),
    at: view.at,
    readOnly: true,
  };
  return <LabContext.Provider value={lab}>{children}</LabContext.Provider>;
}
