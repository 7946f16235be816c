import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import { labQueries } from "../../api/lab";
import type { LabAsk, PromptExample } from "../../api/labTypes";
import { type Loaded, useWorkerQuery } from "../../api/query";
import type { Model } from "../../api/types";
import { DEFAULT_LAB, type LabView } from "../../url/lab";
import { go } from "../../url/navigation";
import type { Place } from "../../url/view";
import { has, type Sizes } from "./gates";
import { readLook } from "./look";
import { useGated } from "./useGated";
import { useGates } from "./useGates";
import { type Lab, LabContext, type PromptInHand } from "./useLab";

/** The model a newcomer meets: the deepest of those that are here, induction shows best in it. */
export function firstModel(models: Model[]): Model | undefined {
  const ready = models.filter((model) => model.ready);
  return ready.sort((a, b) => (b.n_layers ?? 0) - (a.n_layers ?? 0))[0] ?? models[0];
}

function usePrompt(view: LabView, examples: Loaded<PromptExample[]>): PromptInHand {
  const { prompt, row } = view;
  const stored = useQuery({ ...labQueries.prompt(prompt ?? "", row), enabled: prompt !== null });
  if (prompt !== null) {
    const { data, error, refetch } = stored;
    return { text: data?.texts[0] ?? null, stored: data ?? null, example: null, error, reload: refetch };
  }
  const example =
    examples.data?.find(({ name }) => name === view.example) ??
    (view.example === null ? examples.data?.[0] : undefined) ??
    null;
  return {
    text: example?.text ?? null,
    stored: null,
    example,
    error: examples.error,
    reload: examples.refetch,
  };
}

function useMove(view: LabView): Lab["move"] {
  const now = useRef(view);
  now.current = view;
  return useCallback((change, options) => {
    now.current = { ...now.current, ...change };
    go({ page: "lab", ...now.current }, options);
  }, []);
}

/** Everything the lab's parts share, from the address and the server. */
export function LabProvider({
  place,
  models,
  children,
}: {
  place: Extract<Place, { page: "lab" }>;
  models: Model[];
  children: ReactNode;
}) {
  const { page: _, ...view } = place;
  const move = useMove(view);
  const model = view.model ? models.find(({ name }) => name === view.model) : firstModel(models);
  const name = view.model ?? model?.name ?? "";
  const ready = model?.ready === true;
  const [layers, heads] = [model?.n_layers ?? 0, model?.n_heads ?? 0];
  const sizes = useMemo<Sizes | null>(() => (layers && heads ? { layers, heads } : null), [layers, heads]);
  const examples = useQuery({ ...labQueries.promptExamples(name), enabled: ready });
  const prompt = usePrompt(view, examples);
  const bos = view.bos ?? prompt.example?.bos ?? null;
  const text = view.prompt === null ? prompt.text : null;
  const unknown = prompt.error?.status === 404;
  const ask = useMemo<LabAsk | null>(() => {
    if (!ready || unknown) return null;
    if (view.prompt !== null) return { model: name, prompt: view.prompt, row: view.row, bos };
    return text === null ? null : { model: name, text, bos };
  }, [ready, unknown, name, view.prompt, view.row, text, bos]);

  const { fold, weighted } = view;
  const look = useWorkerQuery({
    ...labQueries.look(ask ?? { model: name }, { fold, weighted }, readLook),
    enabled: ask !== null,
  });
  const board = useGates(name, sizes, view, move);
  const length = look.data?.tokens.length;
  const at = view.at !== null && (length === undefined || view.at < length) ? view.at : null;
  const gated = useGated(ask, sizes, board.gates, at, view.answers, view.closed);
  const head = view.head && sizes && has(sizes, view.head) ? view.head : null;
  const select = useCallback<Lab["select"]>((next) => move({ head: next }), [move]);
  const title = model?.title;
  useEffect(() => {
    document.title = title ? `Prompt lab · ${title} · Headscope` : "Prompt lab · Headscope";
  }, [title]);

  const lab: Lab = {
    view: { ...DEFAULT_LAB, ...view, model: name || null, bos },
    move,
    models,
    model,
    sizes,
    examples,
    prompt,
    ask,
    look,
    looking: look.isLoading || look.isPlaceholderData,
    ...board,
    gated,
    head,
    select,
    at,
    readOnly: false,
  };
  return <LabContext.Provider value={lab}>{children}</LabContext.Provider>;
}
