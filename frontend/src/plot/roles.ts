// What a head is for, read off its two gates: the same rule as headscope.core.roles, held together
// by tests/golden/roles.json. Here it follows the threshold's slider at once, without a request.
//
// Scores are kept in float32 and compared with a float32 threshold, as numpy does.
import type { Figure, MapWords, Result, TypedArray } from "../api/types";
import type { Head, Score } from "../url/view";
import { ArrayError, decode, isTypedArray } from "./arrays";

export const UNDECIDED = 0;
export const NEEDED = 1;
export const HARMFUL = 2;
export const BOTH = 3;
export const IRRELEVANT = 4;

/** How a map speaks of its heads until its figure is here, which says it itself. */
export const ROLE_WORDS: MapWords = {
  kind: "roles",
  title: "What each head does for the task",
  roles: ["undecided", "needed", "harmful", "both", "doesn’t matter"],
  terms: ["undecided", "facilitating", "interfering", "ambivalent", "irrelevant"],
  scores: { facilitation: "needed", interference: "harmful", irrelevance: "doesn’t matter" },
  lifted: "with harmful heads ablated",
};

/** The words of a map: those of roles, or of a steering map where the model can't do the task. */
export function wordsOf(figure: Figure | undefined): MapWords {
  return figure?.layout.meta?.vocabulary ?? ROLE_WORDS;
}

/** "Needed", as a label begins. */
export function capital(word: string | undefined): string {
  return word ? word.charAt(0).toUpperCase() + word.slice(1) : "";
}

/** Gates [seed, layer, head], flat, with their sizes. */
export interface Gates {
  seeds: number;
  layers: number;
  heads: number;
  plus: Float32Array;
  minus: Float32Array;
  /** Heads, by layer and head, that cost much to close by themselves: none of them "doesn't matter". */
  costly?: readonly boolean[];
}

interface StoredGates {
  g_plus: unknown;
  g_minus: unknown;
  closed_rise?: unknown;
  closed_rise_se?: unknown;
}

/** Nats that closing a head may cost, by two standard errors, and it still "doesn't matter". */
const BOUND = 0.1;

function costlyHeads(rise: TypedArray, error: TypedArray): boolean[] {
  const errors = decode(error).values;
  return Array.from(decode(rise).values, (value, at) => value - 2 * (errors[at] ?? Number.NaN) > BOUND);
}

/** The gates of a result that has roles. Throws `ArrayError` where it doesn't hold them as it should. */
export function gatesOf(result: Result | StoredGates): Gates {
  const { g_plus, g_minus, closed_rise, closed_rise_se } = result as StoredGates;
  if (!isTypedArray(g_plus) || !isTypedArray(g_minus)) throw new ArrayError("The result has no gates.");
  const [plus, minus] = [decode(g_plus), decode(g_minus)];
  const [seeds = 0, layers = 0, heads = 0] = plus.shape;
  return {
    seeds,
    layers,
    heads,
    plus: Float32Array.from(plus.values),
    minus: Float32Array.from(minus.values),
    ...(isTypedArray(closed_rise) && isTypedArray(closed_rise_se)
      ? { costly: costlyHeads(closed_rise, closed_rise_se) }
      : {}),
  };
}

export function indexOf(gates: Gates, seed: number, { layer, head }: Head): number {
  return (seed * gates.layers + layer) * gates.heads + head;
}

const { fround } = Math;

/** A score in [0, 1]; NaN where the seed's fit failed. */
export function score(name: Score, plus: number, minus: number): number {
  switch (name) {
    case "facilitation":
      return minus;
    case "interference":
      return fround(1 - plus);
    case "irrelevance":
      return fround(plus * fround(1 - minus));
  }
}

export function roleCode(plus: number, minus: number, threshold: number, costly = false): number {
  const limit = fround(threshold);
  const needed = score("facilitation", plus, minus) >= limit;
  const harmful = score("interference", plus, minus) >= limit;
  if (needed && harmful) return BOTH;
  if (needed) return NEEDED;
  if (harmful) return HARMFUL;
  return !costly && score("irrelevance", plus, minus) >= limit ? IRRELEVANT : UNDECIDED;
}

/** One role code per seed, layer and head. */
export function roleCodes(gates: Gates, threshold: number): Uint8Array {
  const size = gates.layers * gates.heads;
  return Uint8Array.from(gates.plus, (plus, at) =>
    roleCode(plus, gates.minus[at] ?? Number.NaN, threshold, gates.costly?.[at % size]),
  );
}

/** Whether each seed has a fit: all its gates are numbers. */
export function finishedSeeds(gates: Gates): boolean[] {
  const size = gates.layers * gates.heads;
  return Array.from({ length: gates.seeds }, (_, seed) => {
    for (let at = seed * size; at < (seed + 1) * size; at += 1) {
      if (!Number.isFinite(gates.plus[at]) || !Number.isFinite(gates.minus[at])) return false;
    }
    return true;
  });
}

export interface Share {
  /** Share of heads that have the role in every seed. */
  always: number;
  /** Share of heads that have it in at least one. */
  any: number;
}

/** Always and Any of needed (facilitation) and harmful (interference), as the headline numbers give them. */
export function shares(gates: Gates, threshold: number): Record<"needed" | "harmful", Share> {
  const limit = fround(threshold);
  const share = (name: Score): Share => {
    let always = 0;
    let any = 0;
    const ran = finishedSeeds(gates);
    const n = ran.filter(Boolean).length;
    const size = gates.layers * gates.heads;
    for (let at = 0; at < size; at += 1) {
      let has = 0;
      for (let seed = 0; seed < gates.seeds; seed += 1) {
        const i = seed * size + at;
        if (ran[seed] && score(name, gates.plus[i] ?? Number.NaN, gates.minus[i] ?? Number.NaN) >= limit)
          has += 1;
      }
      if (has > 0) any += 1;
      if (has === n && n > 0) always += 1;
    }
    return n > 0 ? { always: always / size, any: any / size } : { always: Number.NaN, any: Number.NaN };
  };
  return { needed: share("facilitation"), harmful: share("interference") };
}

/** How a head fares over the seeds: what the tooltip and the head card say. */
export interface HeadSummary {
  head: Head;
  /** Finished seeds. */
  seeds: number;
  /** Seeds in each role, by code. */
  counts: number[];
  plus: number[];
  minus: number[];
  codes: number[];
  /** Mean scores over the finished seeds. */
  means: Record<Score, number>;
}

export function summarise(gates: Gates, head: Head, threshold: number): HeadSummary {
  const at = Array.from({ length: gates.seeds }, (_, seed) => indexOf(gates, seed, head));
  const plus = at.map((i) => gates.plus[i] ?? Number.NaN);
  const minus = at.map((i) => gates.minus[i] ?? Number.NaN);
  const ran = plus.map((value, seed) => Number.isFinite(value) && Number.isFinite(minus[seed]));
  const costly = gates.costly?.[head.layer * gates.heads + head.head];
  const codes = plus.map((value, seed) => roleCode(value, minus[seed] ?? Number.NaN, threshold, costly));
  const counts = [0, 0, 0, 0, 0];
  codes.forEach((code, seed) => {
    if (ran[seed]) counts[code] = (counts[code] ?? 0) + 1;
  });
  const n = ran.filter(Boolean).length;
  const mean = (name: Score): number => {
    let sum = 0;
    for (let seed = 0; seed < plus.length; seed += 1) {
      if (ran[seed]) sum += score(name, plus[seed] ?? 0, minus[seed] ?? 0);
    }
    return n > 0 ? sum / n : Number.NaN;
  };
  return {
    head,
    seeds: n,
    counts,
    plus,
    minus,
    codes,
    means: {
      facilitation: mean("facilitation"),
      interference: mean("interference"),
      irrelevance: mean("irrelevance"),
    },
  };
}

/** The roles that a head may have beside others. */
export const ROLE_KINDS = ["needed", "harmful", "irrelevant"] as const;
export type RoleKind = (typeof ROLE_KINDS)[number];
const SCORE_OF = { needed: "facilitation", harmful: "interference", irrelevant: "irrelevance" } as const;

/** What a map calls a role. */
export function roleWord(words: MapWords, role: RoleKind): string {
  return words.scores[SCORE_OF[role]] ?? role;
}

/** In how many seeds a head has a role, alone or with another. */
export function heldIn({ counts }: HeadSummary, role: RoleKind): number {
  const of = (code: number) => counts[code] ?? 0;
  return { needed: of(NEEDED) + of(BOTH), harmful: of(HARMFUL) + of(BOTH), irrelevant: of(IRRELEVANT) }[role];
}

/** "needed in 5 of 5 seeds", the role it has most often. */
export function mainRole(
  { counts, seeds }: HeadSummary,
  words: MapWords = ROLE_WORDS,
): { code: number; text: string } {
  let code = 0;
  for (let other = 1; other < counts.length; other += 1) {
    if (
      (counts[other] ?? 0) > (counts[code] ?? 0) ||
      (code === 0 && (counts[other] ?? 0) > 0 && counts[0] === counts[other])
    ) {
      code = other;
    }
  }
  if (seeds === 0) return { code: UNDECIDED, text: "no finished seed" };
  return { code, text: `${words.roles[code]} in ${counts[code]} of ${seeds} seed${seeds === 1 ? "" : "s"}` };
}
