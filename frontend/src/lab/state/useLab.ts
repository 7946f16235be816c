// The state of the prompt lab. The page's parts read it with `useLab()`; the address holds all of it
// that a link should bring back.
import { createContext, useContext } from "react";
import type { ApiError } from "../../api/errors";
import type { GatesOut, LabAsk, PromptExample, PromptRows } from "../../api/labTypes";
import type { Loaded } from "../../api/query";
import type { Model } from "../../api/types";
import type { Head } from "../../url/heads";
import type { LabView } from "../../url/lab";
import type { GateState, Sizes } from "./gates";
import type { Look } from "./look";

export interface PromptInHand {
  /** Null while a stored prompt is on its way. */
  text: string | null;
  stored: PromptRows | null;
  example: PromptExample | null;
  error: ApiError | null;
  reload: () => unknown;
}

/** The answer to the newest gates that was heard; older while `busy`. */
export interface Gated {
  data: GatesOut | undefined;
  error: ApiError | null;
  busy: boolean;
  reload: () => void;
}

export interface GateHistory {
  canUndo: boolean;
  canRedo: boolean;
  undo: () => void;
  redo: () => void;
}

export interface Lab {
  /** What the address holds. */
  view: LabView;
  /** Change the view: a new entry in the browser's history unless `replace`. */
  move: (change: Partial<LabView>, options?: { replace?: boolean }) => void;
  models: Model[];
  model: Model | undefined;
  /** Layers and heads; null until the model is known. */
  sizes: Sizes | null;
  examples: Loaded<PromptExample[]>;
  prompt: PromptInHand;
  /** Names the model and the prompt in each request to a worker; null while there is no prompt. */
  ask: LabAsk | null;
  look: Loaded<Look>;
  /** Another look is on its way; the last one stays meanwhile. */
  looking: boolean;
  /** The gates as the hand has them, ahead of any answer. */
  gates: GateState;
  /** With `step: false` it is one of a movement's, which the next step ends: undo goes back a whole movement. */
  setGates: (next: GateState, options?: { step?: boolean }) => void;
  history: GateHistory;
  /** The gates couldn't be kept for the address, or those it names couldn't be had. */
  gatesError: ApiError | null;
  /** Next tokens, losses and followed answers before and under the gates. */
  gated: Gated;
  /** The selected head, where the model has it. */
  head: Head | null;
  select: (head: Head | null) => void;
  /** The position whose next token is read. */
  at: number | null;
  /** Nothing can be asked: a shared view shows what it keeps. */
  readOnly: boolean;
}

export const LabContext = createContext<Lab | null>(null);

export function useLab(): Lab {
  const lab = useContext(LabContext);
  if (!lab) throw new Error("useLab is for components inside the prompt lab.");
  return lab;
}
