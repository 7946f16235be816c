// Attention patterns as they travel: lower triangles, row after row, a byte a weight, weight = (byte / 255)².
// Long prompts come with only the largest keys of each row.
import type { PatternsOut } from "../../api/labTypes";
import { decode } from "../../plot/arrays";

const WEIGHTS = Float32Array.from({ length: 256 }, (_, byte) => (byte / 255) ** 2);

export function weightOf(byte: number): number {
  return WEIGHTS[byte] ?? 0;
}

/** How many cells a triangle of this side has; also where row `side` begins. */
export function triangleSize(side: number): number {
  return (side * (side + 1)) / 2;
}

/** One head's pattern: each row a query, its keys up to itself. */
export interface Pattern {
  tokens: number;
  /** The weights of a query's keys, `query + 1` of them. What a long prompt leaves out is 0. */
  row: (query: number) => Float32Array;
  /** The mass of a row on keys that aren't given. */
  rest: (query: number) => number;
  /** The share of a row that the model's learned sink takes and no token gets; mostly 0. */
  sink: (query: number) => number;
}

const none = () => 0;

function fromTriangle(bytes: Uint8Array, tokens: number, sink: Pattern["sink"] = none): Pattern {
  return {
    tokens,
    row: (query) => {
      const start = triangleSize(query);
      return Float32Array.from(bytes.subarray(start, start + query + 1), weightOf);
    },
    rest: none,
    sink,
  };
}

const NO_KEY = 65535;

function fromTop(
  keys: Uint16Array,
  bytes: Uint8Array,
  rest: Float32Array,
  tokens: number,
  sink: Pattern["sink"],
): Pattern {
  const most = keys.length / tokens;
  return {
    tokens,
    row: (query) => {
      const row = new Float32Array(query + 1);
      for (let i = query * most; i < (query + 1) * most; i += 1) {
        const key = keys[i] ?? NO_KEY;
        if (key <= query) row[key] = weightOf(bytes[i] ?? 0);
      }
      return row;
    },
    rest: (query) => rest[query] ?? 0,
    sink,
  };
}

/** A head's pattern from its small picture, where that shows every token. */
export function patternOfThumb(
  bytes: Uint8Array,
  head: number,
  tokens: number,
  sinks: Uint8Array | null = null,
): Pattern {
  const size = triangleSize(tokens);
  return fromTriangle(bytes.subarray(head * size, (head + 1) * size), tokens, (query) =>
    weightOf(sinks?.[head * tokens + query] ?? 0),
  );
}

/** The patterns of a layer's heads. */
export function readPatterns({ tokens: { length }, triangle, top, sinks }: PatternsOut): Pattern[] {
  const taken = sinks ? decode(sinks).values : null;
  const sinkOf = (head: number) => (query: number) => Number(taken?.[head * length + query] ?? 0);
  if (triangle) {
    const { shape, values } = decode(triangle);
    const size = triangleSize(length);
    return Array.from({ length: shape[1] ?? 0 }, (_, head) =>
      fromTriangle(values.subarray(head * size, (head + 1) * size) as Uint8Array, length, sinkOf(head)),
    );
  }
  if (top) {
    const [keys, weights, rest] = [decode(top.keys), decode(top.weights), decode(top.rest)];
    const size = keys.values.length / (keys.shape[1] ?? 1);
    return Array.from({ length: keys.shape[1] ?? 0 }, (_, head) =>
      fromTop(
        keys.values.subarray(head * size, (head + 1) * size) as Uint16Array,
        weights.values.subarray(head * size, (head + 1) * size) as Uint8Array,
        rest.values.subarray(head * length, (head + 1) * length) as Float32Array,
        length,
        sinkOf(head),
      ),
    );
  }
  return [];
}

/** A square of weights to paint, NaN above the diagonal. */
export interface Cells {
  side: number;
  weights: Float32Array;
  /** Tokens a side of a cell. */
  block: number;
}

export function thumbCells(bytes: Uint8Array, head: number, side: number, block: number): Cells {
  const size = triangleSize(side);
  const weights = new Float32Array(side * side).fill(Number.NaN);
  let at = head * size;
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      weights[row * side + column] = weightOf(bytes[at] ?? 0);
      at += 1;
    }
  }
  return { side, weights, block };
}

/** A pattern as at most `most` cells a side; each is the largest weight of its block. */
export function pooled(pattern: Pattern, most: number): Cells {
  const block = Math.max(1, Math.ceil(pattern.tokens / most));
  const side = Math.ceil(pattern.tokens / block);
  const weights = new Float32Array(side * side).fill(Number.NaN);
  for (let query = 0; query < pattern.tokens; query += 1) {
    const row = pattern.row(query);
    const base = Math.floor(query / block) * side;
    for (let key = 0; key <= query; key += 1) {
      const at = base + Math.floor(key / block);
      const weight = row[key] ?? 0;
      const before = weights[at] ?? Number.NaN;
      if (!(before >= weight)) weights[at] = weight;
    }
  }
  return { side, weights, block };
}

/** Where some tokens look, summed over them, and who looks at any of them; both `[tokens]`. */
export function attentionOf(
  pattern: Pattern,
  tokens: readonly number[],
): { looks: Float32Array; seen: Float32Array } {
  const looks = new Float32Array(pattern.tokens);
  const seen = new Float32Array(pattern.tokens);
  const inside = tokens.filter((token) => token < pattern.tokens);
  for (const query of inside) {
    pattern.row(query).forEach((weight, key) => {
      looks[key] = (looks[key] ?? 0) + weight;
    });
  }
  const first = Math.min(...inside);
  for (let query = first; query < pattern.tokens; query += 1) {
    const row = pattern.row(query);
    for (const key of inside) seen[query] = (seen[query] ?? 0) + (row[key] ?? 0);
  }
  return { looks, seen };
}
