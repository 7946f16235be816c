import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { SharedLab } from "../../api/labTypes";
import type { Loaded } from "../../api/query";
import type { Model } from "../../api/types";
import { decode } from "../../plot/arrays";
import { DEFAULT_LAB, type LabView, parseLab } from "../../url/lab";
import { has } from "./gates";
import { type Look, readLook } from "./look";
import { type Lab, LabContext } from "./useLab";

const NOTHING_TO_UNDO = { canUndo: false, canRedo: false, undo: () => {}, redo: () => {} };

function settled<T>(data: T): Loaded<T> {
  return { data, error: null, isLoading: false, refetch: () => {} };
}

/** The model as far as a share knows it. */
function modelOf({ model, model_title, revision }: SharedLab, look: Look): Model {
  const unknown = { architecture: null, d_model: null, d_vocab: null, n_params: null, bytes_on_disk: null };
  return {
    ...unknown,
    name: model,
    title: model_title,
    note: "",
    source: "folder",
    ready: true,
    remedy: null,
    summary: "",
    licence: "",
    revision,
    n_layers: look.layers,
    n_heads: look.heads,
    n_kv_heads: look.n_kv_heads,
    n_ctx: look.n_ctx,
    card: null,
    resident_on: [],
  };
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
  const model = useMemo(() => modelOf(shared, look), [shared, look]);
  const lab: Lab = {
    view: { ...DEFAULT_LAB, ...view },
    move,
    models: [],
    model,
    sizes,
    examples: settled([]),
    prompt: { text: shared.text, stored: null, example: null, error: null, reload: () => {} },
    ask: null,
    look: settled(look),
    looking: false,
    gates,
    setGates: () => {},
    history: NOTHING_TO_UNDO,
    gatesError: null,
    gated: { data: shared.gates, error: null, busy: false, reload: () => {} },
    head: view.head && has(sizes, view.head) ? view.head : null,
    select: (head) => move({ head }),
    at: view.at,
    readOnly: true,
  };
  return <LabContext.Provider value={lab}>{children}</LabContext.Provider>;
}
