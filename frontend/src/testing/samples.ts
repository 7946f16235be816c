// What a server says in tests: small, true to the schema, and made to be changed in the one thing a test is about.
import type { components } from "../api/schema";

type Schemas = components["schemas"];
export type Look = Schemas["LookOut"];
export type Gates = Schemas["GatesOut"];

const MOMENT = "2026-01-05T10:00:00Z";

export function encoded(values: readonly number[], shape: string, dtype: "f4" | "u1" | "u2" = "f4") {
  const array = { f4: Float32Array, u1: Uint8Array, u2: Uint16Array }[dtype].from(values);
  const bytes = Array.from(new Uint8Array(array.buffer), (byte) => String.fromCharCode(byte));
  return { dtype, shape, bdata: btoa(bytes.join("")) };
}

export function token(id: number, text: string, special = false): Schemas["TokenOut"] {
  const hex = [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id, start: 0, end: text.length, text, hex, special };
}

/** Tokens of a byte each that share a character. */
export function glyphTokens(text: string, bytes: readonly number[]): Schemas["TokenOut"][] {
  return bytes.map((byte, i) => ({
    id: 40 + i,
    start: i,
    end: i + 1,
    text: null,
    hex: byte.toString(16).padStart(2, "0"),
    special: false,
    glyph: { text, part: i + 1, parts: bytes.length },
  }));
}

export function model(more: Partial<Schemas["ModelOut"]> = {}): Schemas["ModelOut"] {
  return {
    name: "tiny",
    title: "Tiny",
    source: "package",
    ready: true,
    remedy: null,
    summary: "Two layers.",
    note: "",
    licence: "MIT",
    revision: null,
    architecture: null,
    n_layers: 2,
    n_heads: 4,
    n_kv_heads: 2,
    d_model: 16,
    d_vocab: 100,
    n_ctx: 64,
    n_params: 1000,
    bytes_on_disk: 4000,
    card: null,
    resident_on: [],
    ...more,
  };
}

export const LARGE = model({
  name: "org/large",
  title: "Large",
  n_layers: 1,
  d_vocab: 50_000,
  source: "hub",
});
export const ABSENT = model({
  name: "absent",
  title: "Absent",
  ready: false,
  remedy: "headscope models fetch absent",
});

/** "<s> the cat the cat" */
export const TOKENS = [
  token(0, "<s>", true),
  token(11, " the"),
  token(12, " cat"),
  token(11, " the"),
  token(12, " cat"),
];

export const EXAMPLE: Schemas["PromptExample"] = {
  name: "cats",
  title: "Cats",
  reading: "The cat comes back.",
  text: " the cat the cat",
  bos: true,
  mute: ["1.3", "0.1"],
};

/** As a byte, the weight that comes closest to `(byte / 255)²`. */
export const weightByte = (weight: number) => Math.round(255 * Math.sqrt(weight));

/** All look at the first token, but head 1.3: from a repeat it looks at what came after the earlier copy. */
function triangles(): number[] {
  return Array.from({ length: 8 }, (_, head) =>
    TOKENS.flatMap((_, query) =>
      Array.from({ length: query + 1 }, (_, key) => {
        const onCopy = head === 7 && query >= 3 ? 0.8 : 0;
        return weightByte(key === 0 ? 1 - onCopy : key === query - 1 ? onCopy : 0);
      }),
    ),
  ).flat();
}

const SCORES = [
  { name: "induction", title: "Induction", reading: "Looks after the earlier copy", unit: null },
  { name: "entropy", title: "Entropy", reading: "How spread its attention is", unit: "nats" },
];
const INDUCTION = [0.05, 0.1, 0.02, 0, 0.2, 0.01, Number.NaN, 0.8];
const ENTROPY = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3];

/** Ten queries, by which 1.3 is clear and 1.0 faint. */
export function above(more: Partial<NonNullable<Look["above"]>> = {}): NonNullable<Look["above"]> {
  const values = INDUCTION.map((value) => value || 0);
  return {
    names: ["induction"],
    values: encoded(values, "1, 2, 4"),
    low: encoded(
      values.map((value) => value - 0.05),
      "1, 2, 4",
    ),
    high: encoded(
      values.map((value) => value + 0.05),
      "1, 2, 4",
    ),
    queries: [10],
    tells: [true],
    claims: encoded([0, 0, 0, 0, 1, 0, 0, 2], "1, 2, 4", "u1"),
    claim_words: ["none", "faint", "clear", "too few"],
    repeats: null,
    ...more,
  };
}

/** Two queries: nobody is named, and 0.2 leads on random tokens that repeat. */
export const TOO_FEW = above({
  queries: [2],
  tells: [false],
  claims: encoded(Array(8).fill(3), "1, 2, 4", "u1"),
  repeats: encoded([0, 0.01, 0.7, 0.02, 0.03, 0.04, 0.05, 0.06], "1, 2, 4"),
});

export function look(more: Partial<Look> = {}): Look {
  return {
    model: "tiny",
    n_kv_heads: 2,
    tokens: TOKENS,
    n_ctx: 64,
    bos: "added",
    copies: [[], [], [], [1], [2]],
    scores: SCORES,
    values: encoded([...INDUCTION, ...ENTROPY], "2, 2, 4"),
    above: null,
    loss: encoded([Number.NaN, 5, 2.5, 1, 0.5], "5"),
    loss_first: 3.75,
    loss_repeat: 0.5,
    sink: 0.6,
    thumbs: { size: 5, block: 1, values: encoded(triangles(), "2, 4, 15", "u1") },
    ...more,
  };
}

/** What the gates do; " sat" falls from a half to a tenth. */
export function gates(more: Partial<Gates> = {}): Gates {
  return {
    model: "tiny",
    tokens: TOKENS,
    at: 4,
    next: [
      { token: token(20, " sat"), before: 0.5, after: 0.1 },
      { token: token(21, " ran"), before: 0.25, after: 0.4 },
    ],
    answers: [],
    logit_difference: null,
    loss_before: [null, 5, 2.5, 1, 0.5],
    loss_after: [null, 5, 2.5, 3, 4],
    kl: 0.25,
    ...more,
  };
}

export function run(more: Partial<Schemas["RunOut"]> = {}): Schemas["RunOut"] {
  return {
    id: "r1",
    analysis: "chg",
    title: "Causal head gating",
    has_roles: true,
    model: "tiny",
    model_title: "Tiny",
    model_info: null,
    task: "plural",
    task_title: "Plural",
    preset: "quick",
    params: {},
    seeds: [0, 1],
    status: "done",
    origin: "local",
    progress: null,
    error: null,
    notice: null,
    created_at: MOMENT,
    started_at: MOMENT,
    finished_at: MOMENT,
    wall_seconds: 12,
    code_version: "1",
    machine: null,
    headline: null,
    headline_values: [],
    result: "sha",
    partial: false,
    attempts: [],
    reproduce: "headscope run chg",
    ...more,
  };
}

export function analysis(name: string, more: Partial<Schemas["AnalysisOut"]> = {}): Schemas["AnalysisOut"] {
  return {
    name,
    title: name,
    summary: `What ${name} says.`,
    version: 1,
    needs: [],
    needs_task: false,
    has_roles: false,
    offers_gates: false,
    params_schema: { properties: {} },
    presets: {},
    references: {},
    figures: [],
    head_figures: [],
    ...more,
  };
}

export function kept(more: Partial<Schemas["GateVectorOut"]> = {}): Schemas["GateVectorOut"] {
  return {
    id: "9f",
    name: "no induction",
    model: "tiny",
    revision: "main",
    n_layers: 2,
    n_heads: 4,
    gates: encoded([1, 1, 1, 1, 1, 1, 1, 0], "2, 4"),
    closed: 1,
    origin: "by hand",
    ablation: "zero",
    created_at: MOMENT,
    ...more,
  };
}

export function prompt(more: Partial<Schemas["PromptRows"]> = {}): Schemas["PromptRows"] {
  return {
    id: "p1",
    name: "",
    kind: "text",
    n: 1,
    characters: 8,
    beginning: " the cat",
    created_at: MOMENT,
    texts: [" the cat"],
    offset: 0,
    ...more,
  };
}
