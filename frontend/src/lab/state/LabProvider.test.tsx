// @vitest-environment jsdom
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Queries } from "../../api/query";
import type { Model } from "../../api/types";
import { usePlace } from "../../url/navigation";
import { Suggestion } from "../board/Suggestion";
import { allOpen, set } from "./gates";
import { firstModel, LabProvider } from "./LabProvider";
import { type Lab, useLab } from "./useLab";

// The network is played: what a worker says of a prompt is its text's length as a loss. The page's code is real.
const LAYERS = 12;
const HEADS = 12;

const models = [
  { name: "small", title: "Small", ready: true, n_layers: 2, n_heads: 8 },
  { name: "deep", title: "Deep", ready: true, n_layers: LAYERS, n_heads: HEADS },
  { name: "absent", title: "Absent", ready: false, n_layers: 40, n_heads: 40 },
] as Model[];

const example = {
  name: "name",
  title: "A name",
  reading: "It comes back.",
  text: "ab ab",
  bos: false,
  mute: ["1.2", "0.3"],
};

function array(values: number[], shape: string, kind: "f4" | "u1") {
  const bytes = new Uint8Array(kind === "u1" ? Uint8Array.from(values) : Float32Array.from(values).buffer);
  return { dtype: kind, shape, bdata: btoa(String.fromCharCode(...bytes)) };
}

function lookOf(mark: number) {
  const heads = LAYERS * HEADS;
  return {
    model: "deep",
    n_kv_heads: HEADS,
    tokens: [{ id: mark, start: 0, end: 1, text: "a", hex: "61", special: false }],
    n_ctx: 64,
    bos: "none",
    copies: [[]],
    scores: [{ name: "induction", title: "Induction", reading: "", unit: null }],
    values: array(Array(heads).fill(0), `1, ${LAYERS}, ${HEADS}`, "f4"),
    loss: array([Number.NaN], "1", "f4"),
    loss_first: null,
    loss_repeat: null,
    sink: 1,
    thumbs: { size: 1, block: 1, values: array(Array(heads).fill(255), `${LAYERS}, ${HEADS}, 1`, "u1") },
  };
}

interface Asked {
  path: string;
  body: Record<string, unknown>;
  answer: (body: unknown) => void;
}
let asked: Asked[] = [];
/** Answers at once to these; the rest waits for the test. */
let prompt: Record<string, unknown> = {};

async function network(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname.replace("/api/v1/", "");
  if (path in prompt) return new Response(JSON.stringify(prompt[path]));
  const body = request.method === "POST" ? ((await request.json()) as Record<string, unknown>) : {};
  return new Promise((resolve, reject) => {
    request.signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    asked.push({ path, body, answer: (answer) => resolve(new Response(JSON.stringify(answer))) });
  });
}

let lab: Lab;
function Inside() {
  lab = useLab();
  return <Suggestion example={example} />;
}
function Page() {
  const place = usePlace();
  if (place.page !== "lab") return null;
  return (
    <LabProvider place={place} models={models}>
      <Inside />
    </LabProvider>
  );
}

async function open(address: string) {
  window.history.replaceState(null, "", address);
  render(<Page />, { wrapper: Queries });
  await waitFor(() => expect(lab.ask).not.toBeNull());
}

const search = () => new URLSearchParams(window.location.search);

beforeEach(() => {
  asked = [];
  prompt = { "prompts/examples": [example] };
  vi.stubGlobal("fetch", network);
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it("a newcomer meets the deepest model that is here, with the first example looked at", async () => {
  expect(firstModel(models)?.name).toBe("deep");
  await open("/lab");
  expect(lab.ask).toEqual({ model: "deep", text: "ab ab", bos: false });
  await waitFor(() => expect(asked.map(({ path }) => path).sort()).toEqual(["lab/gates", "lab/look"]));
  expect(window.location.search).toBe("");
});

describe("gates on the board", () => {
  it("go into the address when a movement is over, and come back from it", async () => {
    await open("/lab?mute=3.4");
    const at = 3 * HEADS + 4;
    expect(lab.gates[at]).toBe(0);
    act(() => lab.setGates(set(lab.gates, [0], 0.5), { step: false }));
    expect(lab.gates[0]).toBe(0.5);
    expect(search().get("mute")).toBe("3.4");
    act(() => lab.setGates(set(lab.gates, [0], 0)));
    expect(search().get("mute")).toBe("0.0,3.4");
    act(() => lab.history.undo());
    expect(lab.gates[0]).toBe(1);
    expect(search().get("mute")).toBe("3.4");
    act(() => lab.history.redo());
    expect(search().get("mute")).toBe("0.0,3.4");
  });

  it("are muted as an example suggests by one click, and opened by another", async () => {
    await open("/lab");
    act(() => screen.getByRole("button", { name: "Mute 1.2, 0.3" }).click());
    expect(search().get("mute")).toBe("0.3,1.2");
    act(() => screen.getByRole("button", { name: "Open all heads again" }).click());
    expect(search().get("mute")).toBeNull();
  });

  it("are in the address however many they are, and nothing is stored", async () => {
    await open("/lab");
    const half = allOpen({ layers: LAYERS, heads: HEADS }).map((_, i) => (i % 2 === 0 ? 0.3 : 1));
    act(() => lab.setGates(half));
    const long = search().get("mute") ?? "";
    expect(long.length).toBeLessThan(250);
    expect(asked.some(({ path }) => path === "gates")).toBe(false);
    act(() => lab.setGates(allOpen({ layers: LAYERS, heads: HEADS })));
    act(() => lab.move({ mute: long }));
    await waitFor(() => expect(lab.gates).toEqual(half));
  });
});

it("an answer that comes late for an earlier prompt is dropped", async () => {
  prompt = { ...prompt, "prompts/p1": { id: "p1", kind: "text", n: 1, texts: ["one"], offset: 0 } };
  await open("/lab?model=deep");
  await waitFor(() => expect(asked.some(({ path }) => path === "lab/look")).toBe(true));
  const early = asked.find(({ path }) => path === "lab/look");
  act(() => lab.move({ prompt: "p1" }));
  await waitFor(() => expect(lab.ask).toMatchObject({ prompt: "p1" }));
  await waitFor(() => expect(asked.filter(({ path }) => path === "lab/look")).toHaveLength(2));
  const late = asked.filter(({ path }) => path === "lab/look")[1];
  await act(async () => late?.answer(lookOf(2)));
  await waitFor(() => expect(lab.look.data?.tokens[0]?.id).toBe(2));
  await act(async () => early?.answer(lookOf(1)));
  expect(lab.look.data?.tokens[0]?.id).toBe(2);
});
