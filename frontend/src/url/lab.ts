// The prompt lab's address: which prompt, how it is looked at, which heads are muted. Never the prompt's text.
import { type Head, headName, parseHead } from "./heads";

/** What heads are sorted by: a score, or their place in the model. */
export const LAB_SORTS = [
  "induction",
  "duplicate",
  "previous",
  "current",
  "sink",
  "entropy",
  "layer",
] as const;
export type LabSort = (typeof LAB_SORTS)[number];

/** What closed heads give: their mean over a task's rows, or what they give in one of its rows. */
export interface Closed {
  ablation: "mean" | "resample";
  /** A task's name. */
  reference: string;
}

export interface LabView {
  model: string | null;
  /** A stored prompt's id. */
  prompt: string | null;
  /** A built-in prompt's name, where no stored one is named. */
  example: string | null;
  /** Which prompt of a stored batch. */
  row: number;
  /** A BOS token first, or not; the tokenizer's own policy where null. */
  bos: boolean | null;
  /** Tokens that differ in case or spaces count as the same. */
  fold: boolean;
  /** Patterns weighed by the value vectors' norms. */
  weighted: boolean;
  sort: LabSort;
  /** Only heads whose score is at least this; 0 shows all. Two decimals. */
  least: number;
  /** The first token's column and special tokens count in the colour scale. */
  sink: boolean;
  head: Head | null;
  /** Tokens whose attention is held on the page. */
  locked: number[];
  /** The position whose next token is read; the last where null. */
  at: number | null;
  /** Token ids whose probability is followed, two at most. */
  answers: number[];
  /** Changed gates, "17.4,18.6:0.5"; null where none or where `gates` names them. */
  mute: string | null;
  /** A kept gate vector's id. */
  gates: string | null;
  /** Nothing where null. */
  closed: Closed | null;
}

export const DEFAULT_LAB: LabView = {
  model: null,
  prompt: null,
  example: null,
  row: 0,
  bos: null,
  fold: false,
  weighted: false,
  sort: "induction",
  least: 0,
  sink: false,
  head: null,
  locked: [],
  at: null,
  answers: [],
  mute: null,
  gates: null,
  closed: null,
};

const MOST = 1e7;

function whole(text: string | null): number | null {
  return text !== null && /^\d{1,7}$/.test(text) && Number(text) < MOST ? Number(text) : null;
}

function wholes(text: string | null, most: number): number[] {
  const numbers = (text ?? "").split(",").map((part) => whole(part));
  return [...new Set(numbers.filter((value) => value !== null))].slice(0, most);
}

function yesNo(text: string | null): boolean | null {
  return text === "1" ? true : text === "0" ? false : null;
}

function leastScore(text: string | null): number {
  const value = text === null || text.trim() === "" ? Number.NaN : Number(text);
  return value > 0 && value <= 100 ? Math.round(value * 100) / 100 : 0;
}

function closedHeads(text: string | null): Closed | null {
  const [, ablation, reference] = text?.match(/^(mean|resample):(.{1,200})$/) ?? [];
  return ablation && reference ? { ablation: ablation === "mean" ? "mean" : "resample", reference } : null;
}

/** Tokens held at once: beyond so many, a sum of their rows says nothing. */
export const MOST_LOCKED = 64;

export function parseLab(search: URLSearchParams): LabView {
  const text = (name: string): string | null => search.get(name) || null;
  return {
    model: text("model"),
    prompt: text("prompt"),
    example: text("example"),
    row: whole(search.get("row")) ?? 0,
    bos: yesNo(search.get("bos")),
    fold: search.get("fold") === "1",
    weighted: search.get("weighted") === "1",
    sort: LAB_SORTS.find((sort) => sort === search.get("sort")) ?? DEFAULT_LAB.sort,
    least: leastScore(search.get("least")),
    sink: search.get("sink") === "1",
    head: parseHead(search.get("head")),
    locked: wholes(search.get("locked"), MOST_LOCKED).sort((a, b) => a - b),
    at: whole(search.get("at")),
    answers: wholes(search.get("answers"), 2),
    mute: text("mute"),
    gates: text("gates"),
    closed: closedHeads(search.get("closed")),
  };
}

/** The lab's view as URL parameters; defaults are left out. */
export function labParameters(view: LabView): Record<string, string> {
  const written: Record<string, string | null | false> = {
    model: view.model,
    prompt: view.prompt,
    example: view.example,
    row: view.row > 0 && String(view.row),
    bos: view.bos === null ? null : view.bos ? "1" : "0",
    fold: view.fold && "1",
    weighted: view.weighted && "1",
    sort: view.sort !== DEFAULT_LAB.sort && view.sort,
    least: view.least > 0 && String(view.least),
    sink: view.sink && "1",
    head: view.head && headName(view.head),
    locked: view.locked.join(","),
    at: view.at === null ? null : String(view.at),
    answers: view.answers.join(","),
    mute: view.mute,
    gates: view.gates,
    closed: view.closed && `${view.closed.ablation}:${view.closed.reference}`,
  };
  return Object.fromEntries(
    Object.entries(written).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}
