// Gates of all heads as plain values: what a hand on the mixing board does to them, and how an address
// holds them. A gate state is a flat Float32Array [layers, heads]; 1 is open (the model as it is), 0 muted.
// Every function gives a new state and leaves the old one alone.
import { type Head, headName, parseHead } from "../../url/view";
import { isPacked, packed, unpacked } from "./gateText";

export type GateState = Float32Array;

export interface Sizes {
  layers: number;
  heads: number;
}

export function indexOf({ heads }: Sizes, { layer, head }: Head): number {
  return layer * heads + head;
}

export function headAt({ heads }: Sizes, at: number): Head {
  return { layer: Math.floor(at / heads), head: at % heads };
}

export function has({ layers, heads }: Sizes, { layer, head }: Head): boolean {
  return layer < layers && head < heads;
}

/** All gates open: the model as it is. */
export function allOpen({ layers, heads }: Sizes): GateState {
  return new Float32Array(layers * heads).fill(1);
}

/** A gate as a hand sets it: in [0, 1], in hundredths, so that an address holds it exactly. */
export function rounded(value: number): number {
  if (Number.isNaN(value)) return 1;
  return Math.round(Math.min(1, Math.max(0, value)) * 100) / 100;
}

export function set(gates: GateState, at: readonly number[], value: number): GateState {
  const next = gates.slice();
  for (const i of at) next[i] = rounded(value);
  return next;
}

/** Move each by `step`, e.g. −0.1. */
export function moved(gates: GateState, at: readonly number[], step: number): GateState {
  const next = gates.slice();
  for (const i of at) next[i] = rounded((gates[i] ?? 1) + step);
  return next;
}

/** Mute them; where all of them are muted, open them. */
export function toggled(gates: GateState, at: readonly number[]): GateState {
  return set(gates, at, at.every((i) => gates[i] === 0) ? 1 : 0);
}

/** Only these stay open; where that is so already, all open again. */
export function solo(gates: GateState, at: readonly number[]): GateState {
  const alone = set(new Float32Array(gates.length), at, 1);
  return same(gates, alone) ? new Float32Array(gates.length).fill(1) : alone;
}

/** All heads of a layer. */
export function layer({ heads }: Sizes, at: number): number[] {
  return Array.from({ length: heads }, (_, head) => at * heads + head);
}

/** The heads in the rectangle between two corners, whichever way it was drawn. */
export function box(sizes: Sizes, from: Head, to: Head): number[] {
  const inside: number[] = [];
  for (let l = Math.min(from.layer, to.layer); l <= Math.max(from.layer, to.layer); l += 1) {
    for (let h = Math.min(from.head, to.head); h <= Math.max(from.head, to.head); h += 1) {
      inside.push(indexOf(sizes, { layer: l, head: h }));
    }
  }
  return inside;
}

export function same(a: GateState, b: GateState): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/** The heads whose gate isn't fully open. */
export function changed(gates: GateState): number[] {
  const at: number[] = [];
  gates.forEach((value, i) => {
    if (value !== 1) at.push(i);
  });
  return at;
}

/** How a gate reads: "muted", "open", "50 %". */
export function gateWords(value: number): string {
  if (value <= 0) return "muted";
  return value >= 1 ? "open" : `${Math.round(value * 100)} %`;
}

/** Rows as the API takes them. Float32 values are written as the shortest decimal that gives them back. */
export function toRows(gates: GateState, { layers, heads }: Sizes): number[][] {
  return Array.from({ length: layers }, (_, l) =>
    Array.from({ length: heads }, (_, h) => shortest(gates[l * heads + h] ?? 1)),
  );
}

function shortest(value: number): number {
  for (let digits = 1; digits <= 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/** Of more parts than this a list is longer than all gates packed, and nobody reads it. */
const MOST_PARTS = 64;

/**
 * The changed gates for an address: "17.4,18.6:0.5" mutes 17.4 and half closes 18.6; "5" is all of layer 5,
 * "all" is every head; of two that name the same head the later holds. Packed where they are many. Empty where all
 * are open.
 */
export function toParam(gates: GateState, sizes: Sizes): string {
  const base = gates.filter((value) => value === 0).length * 2 > gates.length ? 0 : 1;
  const parts = base === 0 ? ["all"] : [];
  for (let l = 0; l < sizes.layers; l += 1) {
    const row = gates.subarray(l * sizes.heads, (l + 1) * sizes.heads);
    const [first = 1] = row;
    if (sizes.heads > 1 && first !== base && row.every((value) => value === first)) {
      parts.push(entry(String(l), first));
      continue;
    }
    row.forEach((value, h) => {
      if (value !== base) parts.push(entry(headName({ layer: l, head: h }), value));
    });
  }
  return parts.length > MOST_PARTS ? packed(gates) : parts.join(",");
}

function entry(name: string, value: number): string {
  return value === 0 ? name : `${name}:${shortest(value)}`;
}

/** Gates from an address; what names no head of this model is left out. Never throws. */
export function fromParam(text: string | null, sizes: Sizes): GateState {
  const gates = allOpen(sizes);
  if (text !== null && isPacked(text)) return unpacked(text, gates.length) ?? gates;
  for (const part of (text ?? "").split(",")) {
    const [name = "", number = "0", ...rest] = part.split(":");
    const value = /^\d*\.?\d+(e-\d+)?$/.test(number) ? Number(number) : Number.NaN;
    if (rest.length > 0 || !(value >= 0 && value <= 1)) continue;
    for (const at of named(name, sizes)) gates[at] = value;
  }
  return gates;
}

function named(name: string, sizes: Sizes): number[] {
  if (name === "all") return Array.from({ length: sizes.layers * sizes.heads }, (_, i) => i);
  if (/^\d{1,4}$/.test(name)) return Number(name) < sizes.layers ? layer(sizes, Number(name)) : [];
  const head = parseHead(name);
  return head && has(sizes, head) ? [indexOf(sizes, head)] : [];
}

/** What undo goes back through. */
export interface History {
  past: readonly GateState[];
  present: GateState;
  future: readonly GateState[];
  /** Where a movement that isn't over began: a whole drag is one step back. */
  began: GateState | null;
}

const LONGEST = 200;

export function started(present: GateState): History {
  return { past: [], present, future: [], began: null };
}

/** The next state. With `step` false it is one of a movement's, which the next step ends. */
export function changedTo(history: History, next: GateState, { step = true } = {}): History {
  const from = history.began ?? history.present;
  if (!step) return { ...history, present: next, began: from };
  if (same(from, next)) return { ...history, present: next, began: null };
  return { past: [...history.past, from].slice(-LONGEST), present: next, future: [], began: null };
}

export function undone(history: History): History {
  const { past, present, future, began } = history;
  if (began) return { ...history, present: began, began: null };
  const last = past.at(-1);
  if (!last) return history;
  return { past: past.slice(0, -1), present: last, future: [present, ...future], began: null };
}

export function redone(history: History): History {
  const [next, ...future] = history.future;
  if (!next || history.began) return history;
  return { past: [...history.past, history.present], present: next, future, began: null };
}
