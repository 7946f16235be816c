// Which heads a board shows first, and gates that a prompt itself suggests.

import type { Head } from "../../url/heads";
import type { LabSort } from "../../url/lab";
import { ordered } from "../sheet/order";
import { allOpen, changed, type GateState, headAt, indexOf, type Sizes, set } from "../state/gates";
import { type Look, scoreOf } from "../state/look";

/** The score that a board follows: the one that sorts the page, induction where that is the layers' order. */
export interface BoardScore {
  title: string;
  /** What it was measured on, in words. */
  where: string;
  /** Heads by it, the strongest first. */
  order: number[];
  /** How strong each head is, as a share of the strongest, for shades; 0 where it has no value. */
  shades: Float32Array;
}

export function boardScore(look: Look, sort: LabSort): BoardScore | null {
  const by: LabSort = sort === "layer" ? "induction" : sort;
  const found = scoreOf(look, by);
  if (!found) return null;
  const { values, score, onRepeats } = found;
  const most = Math.max(0, ...values.filter(Number.isFinite));
  // A head of no entropy is the strongest: it looks at one token.
  const shade = (value: number) => (by === "entropy" ? 1 - value / most : value / most);
  return {
    title: onRepeats ? `${score.title} on random repeats` : score.title,
    where: onRepeats ? "on random tokens that repeat" : "on this prompt",
    order: ordered(look, { sort: by, least: 0 }),
    shades: values.map((value) => (most > 0 && !Number.isNaN(value) ? Math.max(0, shade(value)) : 0)),
  };
}

/** Heads that get a fader: those that were changed, the selected one, and the strongest up to `most`. */
export function faderHeads(
  order: readonly number[],
  gates: GateState,
  touched: ReadonlySet<number>,
  selected: number | null,
  most: number,
): { shown: number[]; more: number } {
  const rank = new Map(order.map((at, i) => [at, i]));
  const byRank = (at: readonly number[]) => [...at].sort((a, b) => (rank.get(a) ?? a) - (rank.get(b) ?? b));
  const moved = changed(gates);
  const first = byRank([...new Set([...moved, ...touched])]).slice(0, most);
  const chosen = new Set(selected === null ? first : [...first, selected]);
  for (const at of order) {
    if (chosen.size >= most) break;
    chosen.add(at);
  }
  return { shown: byRank([...chosen]), more: moved.filter((at) => !chosen.has(at)).length };
}

/** The model as it is, but for these heads. */
export function muted(sizes: Sizes, heads: readonly number[]): GateState {
  return set(allOpen(sizes), heads, 0);
}

/** As many muted heads, drawn at random: what any such number of heads does. */
export function randomOfSameSize(
  gates: GateState,
  sizes: Sizes,
  random: () => number = Math.random,
): GateState {
  const all = Array.from(gates.keys());
  const n = changed(gates).length;
  for (let i = 0; i < n; i += 1) {
    const j = i + Math.floor(random() * (all.length - i));
    [all[i], all[j]] = [all[j] ?? 0, all[i] ?? 0];
  }
  return muted(sizes, all.slice(0, n));
}

/** "17.4, 18.6 and 3 more". */
export function namesOf(sizes: Sizes, at: readonly number[], most = 3): string {
  const names = at.slice(0, most).map((i) => {
    const { layer, head } = headAt(sizes, i);
    return `${layer}.${head}`;
  });
  return at.length > most ? `${names.join(", ")} and ${at.length - most} more` : names.join(", ");
}

/** What the gates do, in a few words: "3 heads muted", "2 muted, 1 lowered". */
export function gatesInWords(gates: GateState): string {
  const shut = gates.filter((value) => value === 0).length;
  const lowered = gates.filter((value) => value > 0 && value < 1).length;
  if (shut + lowered === 0) return "all open";
  if (lowered === 0) return `${shut} head${shut === 1 ? "" : "s"} muted`;
  if (shut === 0) return `${lowered} head${lowered === 1 ? "" : "s"} lowered`;
  return `${shut} muted, ${lowered} lowered`;
}

/** A head's place among the gates, where the model has it. */
export function placeOf(sizes: Sizes, head: Head | null): number | null {
  return head && head.layer < sizes.layers && head.head < sizes.heads ? indexOf(sizes, head) : null;
}
