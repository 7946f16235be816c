// A look at all heads, decoded once: scores, losses and thumbnails as plain numbers.
import type { LookOut, ScoreOut } from "../../api/labTypes";
import { decode } from "../../plot/arrays";
import type { Head } from "../../url/view";
import type { Sizes } from "./gates";

export interface Thumbs {
  /** Cells a side. */
  size: number;
  /** Tokens a side of a cell. */
  block: number;
  /** Of all heads one after another: the rows of each lower triangle, weight (value / 255)². */
  values: Uint8Array;
  /** Of all heads one after another: the share of each row that a learned sink takes, as the weights. */
  sinks: Uint8Array | null;
}

/** A score above its columns' level, `[layer × head]`: what heads are named by. */
export interface Above {
  values: Float32Array;
  /** Ends of the 95 % interval over queries. */
  low: Float32Array;
  high: Float32Array;
  /** How many queries it is the mean of, and whether these are enough to name a head by. */
  queries: number;
  tells: boolean;
  /** "none", "faint", "clear" or "too few". */
  claims: string[];
  /** The same on random tokens that repeat, where the prompt has too few queries. */
  repeats: Float32Array | null;
}

/** What a worker saw of all heads on one prompt. */
export interface Look extends Omit<LookOut, "values" | "loss" | "thumbs" | "above">, Sizes {
  /** `[score][layer × head]`, in the order of `scores`: weights as they are, NaN where there is no value. */
  values: Float32Array[];
  /** By the name of a score; none in what was shared before there were such. */
  above: ReadonlyMap<string, Above>;
  /** Nats for each token, NaN for the first. */
  loss: Float32Array;
  thumbs: Thumbs;
}

export function readLook(out: LookOut): Look {
  const { shape, values } = decode(out.values);
  const [, layers = 0, heads = 0] = shape;
  const size = layers * heads;
  return {
    ...out,
    layers,
    heads,
    values: out.scores.map((_, i) => Float32Array.from(values.slice(i * size, (i + 1) * size))),
    above: readAbove(out.above, size),
    loss: Float32Array.from(decode(out.loss).values),
    thumbs: {
      ...out.thumbs,
      values: decode(out.thumbs.values).values as Uint8Array,
      sinks: out.thumbs.sinks ? (decode(out.thumbs.sinks).values as Uint8Array) : null,
    },
  };
}

function readAbove(out: LookOut["above"], size: number): ReadonlyMap<string, Above> {
  if (!out) return new Map();
  const parts = (array: Parameters<typeof decode>[0]) => {
    const { values } = decode(array);
    return (i: number) => Float32Array.from(values.slice(i * size, (i + 1) * size));
  };
  const [values, low, high, claims] = [out.values, out.low, out.high, out.claims].map(parts);
  const repeats = out.repeats ? parts(out.repeats) : null;
  if (!values || !low || !high || !claims) return new Map();
  return new Map(
    out.names.map((name, i) => [
      name,
      {
        values: values(i),
        low: low(i),
        high: high(i),
        queries: out.queries[i] ?? 0,
        tells: out.tells[i] ?? false,
        claims: Array.from(claims(i), (code) => out.claim_words[code] ?? ""),
        repeats: out.tells[i] ? null : (repeats?.(i) ?? null),
      },
    ]),
  );
}

/** A score as heads are ranked by it. */
export interface Ranking {
  score: ScoreOut;
  values: Float32Array;
  /** Whether it is of random tokens that repeat, because this prompt has too few. */
  onRepeats: boolean;
}

/** A score of all heads by its name, above its columns' level where there is such; nothing where this model was
 * not given it. */
export function scoreOf(look: Look, name: string): Ranking | undefined {
  const at = look.scores.findIndex((score) => score.name === name);
  const [score, weights] = [look.scores[at], look.values[at]];
  const above = look.above.get(name);
  if (!score || !weights) return undefined;
  return { score, values: above?.repeats ?? above?.values ?? weights, onRepeats: Boolean(above?.repeats) };
}

/** A score with what to call it, and its value for every head. */
export interface Column extends ScoreOut {
  values: Float32Array;
}

const ABOVE_LEVEL = "Above what the same keys get from other tokens.";

/** Every score that was measured: first those above their columns' level, then the weights as they are. */
export function columnsOf(look: Look): Column[] {
  const weighed = look.above.size > 0;
  const above = [...look.above].flatMap(([name, { values }]) => {
    const score = look.scores.find((one) => one.name === name);
    return score
      ? [{ ...score, name: `${name}_above`, reading: `${score.reading} ${ABOVE_LEVEL}`, values }]
      : [];
  });
  const weights = look.scores.map((score, i) => {
    const doubled = weighed && (look.above.has(score.name) || score.name === "prefix");
    const title = doubled ? `${score.title}, weight` : score.title;
    return { ...score, title, values: look.values[i] ?? new Float32Array() };
  });
  return [...above, ...weights];
}

/** The heads that share keys and values with this one, itself included. */
export function sharing(
  { heads, n_kv_heads }: Pick<Look, "heads" | "n_kv_heads">,
  { layer, head }: Head,
): Head[] {
  const size = n_kv_heads > 0 ? heads / n_kv_heads : 1;
  const first = Math.floor(head / size) * size;
  return Array.from({ length: size }, (_, i) => ({ layer, head: first + i }));
}
