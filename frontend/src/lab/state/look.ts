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
}

/** What a worker saw of all heads on one prompt. */
export interface Look extends Omit<LookOut, "values" | "loss" | "thumbs">, Sizes {
  /** `[score][layer × head]`, in the order of `scores`; NaN where the prompt gives no value. */
  values: Float32Array[];
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
    loss: Float32Array.from(decode(out.loss).values),
    thumbs: { ...out.thumbs, values: decode(out.thumbs.values).values as Uint8Array },
  };
}

/** A score of all heads by its name; nothing where this model was not given it. */
export function scoreOf(look: Look, name: string): { score: ScoreOut; values: Float32Array } | undefined {
  const at = look.scores.findIndex((score) => score.name === name);
  const [score, values] = [look.scores[at], look.values[at]];
  return score && values && { score, values };
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
