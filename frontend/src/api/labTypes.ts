// What the lab asks and is answered, as in headscope.messages.lab and headscope.messages.prompts.
import type { Token, TypedArray } from "./types";

/** A prompt by its text or by the id of a stored one; positions are token indices, BOS included. */
export interface LabAsk {
  model: string;
  text?: string;
  prompt?: string;
  row?: number;
  bos?: boolean | null;
}

export type GateRows = TypedArray | number[][];

export interface ScoreOut {
  name: string;
  title: string;
  reading: string;
  unit: string | null;
}

export type Bos = "none" | "added" | "in-text" | "doubled";

export interface LookOut {
  model: string;
  n_kv_heads: number;
  tokens: Token[];
  n_ctx: number;
  bos: Bos;
  copies: number[][];
  scores: ScoreOut[];
  values: TypedArray;
  loss: TypedArray;
  loss_first: number | null;
  loss_repeat: number | null;
  sink: number;
  thumbs: { size: number; block: number; values: TypedArray };
}

export interface PatternsOut {
  model: string;
  tokens: Token[];
  layers: number[];
  patterns: TypedArray | null;
  triangle: TypedArray | null;
  top: { keys: TypedArray; weights: TypedArray; rest: TypedArray } | null;
}

export interface NextToken {
  token: Token;
  before: number;
  after: number;
}

export interface Answer extends NextToken {
  rank_before: number;
  rank_after: number;
}

export interface GatesOut {
  model: string;
  tokens: Token[];
  at: number;
  next: NextToken[];
  answers: Answer[];
  logit_difference: { before: number; after: number } | null;
  loss_before: (number | null)[];
  loss_after: (number | null)[];
  kl: number;
}

export interface ContinueOut {
  model: string;
  before: Token[];
  after: Token[];
  note: string;
}

export interface HeadAblationOut {
  model: string;
  layer: number;
  head: number;
  loss: TypedArray;
  loss_repeat: (number | null)[];
}

export interface AttributionOut {
  model: string;
  tokens: Token[];
  at: number;
  token: Token;
  against: Token | null;
  heads: TypedArray;
  parts: { name: string; title: string; value: number }[];
  total: number;
  logit: number;
  note: string;
}

export interface LensOut {
  model: string;
  at: number;
  token: Token;
  layers: {
    layers: number;
    top: Token[];
    top_probability: number[];
    log_probability: number;
    rank: number;
  }[];
}

export interface Prompt {
  id: string;
  name: string;
  kind: "text" | "batch";
  n: number;
  characters: number;
  beginning: string;
  created_at: string;
}

export interface PromptRows extends Prompt {
  texts: string[];
  offset: number;
}

export interface PromptExample {
  name: string;
  title: string;
  reading: string;
  text: string;
  bos: boolean | null;
  mute: string[];
}

export interface GateVector {
  id: string;
  name: string;
  model: string;
  revision: string;
  n_layers: number;
  n_heads: number;
  gates: TypedArray;
  closed: number;
  origin: string;
  created_at: string;
}

export interface GatePreset {
  name: string;
  title: string;
  reading: string;
  gates: TypedArray;
  open: number;
}

export interface Tokenized {
  tokens: Token[];
  n_ctx: number;
  bos: Bos;
}

/** What a share of a lab view keeps: the server asks a worker once more, and keeps what it says. */
export interface LabShareRequest extends LabAsk {
  fold: boolean;
  weighted: boolean;
  gates: GateRows;
  at: number | null;
  answers: number[];
}

/** A lab view as a share keeps it: nothing of it needs a worker. */
export interface SharedLab {
  model: string;
  text: string;
  look: LookOut;
  gates: GatesOut;
  gate_values: TypedArray;
}
