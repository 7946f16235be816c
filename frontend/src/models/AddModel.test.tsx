// @vitest-environment jsdom
import { fireEvent, screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { KnownModel, KnownModels, Trial } from "../api/types";
import { type Asked, answering, problem } from "../testing/network";
import { openPage, renderPart } from "../testing/page";
import { model } from "../testing/samples";
import { AddModel, commandFor } from "./AddModel";
import { room } from "./room";

const GPT2: KnownModel = {
  name: "openai-community/gpt2",
  title: "GPT-2 small",
  summary: "The model of the first published circuits.",
  licence: "MIT",
  gated: false,
  n_params: 124_439_808,
  n_layers: 12,
  n_heads: 12,
  n_kv_heads: 12,
  n_ctx: 1024,
  bytes_to_download: 548e6,
  memory_float32: 1.2e9,
  memory_bfloat16: 0.9e9,
  fits: "float32",
  here: false,
  command: "headscope models fetch openai-community/gpt2",
};
const LARGE: KnownModel = {
  ...GPT2,
  name: "org/large",
  title: "Large",
  gated: true,
  memory_float32: 35e9,
  memory_bfloat16: 18e9,
  fits: "bfloat16",
};
const KNOWN: KnownModels = {
  models: [GPT2, LARGE, { ...GPT2, name: "headscope-2l", title: "Here already", here: true }],
  memory_bytes: 24e9,
  why: "Whoever runs the server adds models.",
};
const TRIAL: Trial = {
  architecture: "LlamaForCausalLM",
  n_layers: 16,
  n_heads: 32,
  n_kv_heads: 8,
  d_head: 64,
  d_model: 2048,
  d_vocab: 128_256,
  n_ctx: 131_072,
  n_params: 1_235_814_400,
  memory_float32: 6.5e9,
  memory_bfloat16: 3.6e9,
  fits: "float32",
  quantised: "",
  expected: [
    { name: "patterns", title: "attention patterns", has: true, reason: null, limits: [] },
    {
      name: "circuits",
      title: "circuits from weights",
      has: true,
      reason: null,
      limits: ["A norm is left out."],
    },
    { name: "attribution", title: "attribution", has: false, reason: "it differs by 0.3", limits: [] },
  ],
};

const play = (more: Record<string, unknown> = {}) =>
  answering({ "GET /api/v1/models": [model()], "GET /api/v1/known-models": KNOWN, ...more });

it("offers known models by name, with what they take and the command that brings them", async () => {
  play();
  openPage("/models");
  fireEvent.click(await screen.findByRole("button", { name: "Add a model" }));
  const row = (await screen.findByRole("rowheader", { name: "GPT-2 small" })).closest("tr") as HTMLElement;
  expect(row.textContent).toContain("124 M");
  expect(row.textContent).toContain("12 × 12");
  expect(row.textContent).toContain("headscope models fetch openai-community/gpt2");
  const large = screen.getByRole("rowheader", { name: "Large" }).closest("tr") as HTMLElement;
  expect(large.textContent).toContain("too much here");
  expect(large.textContent).toContain("in bfloat16");
  expect(large.textContent).toContain("gated");
  expect(
    within(screen.getByRole("rowheader", { name: "Here already" }).closest("tr") as HTMLElement).getByRole(
      "link",
    ).textContent,
  ).toBe("it is here");
  expect(screen.getByText("Whoever runs the server adds models.")).toBeTruthy();
});

it("gives the command for any hub name, folder or GGUF file", async () => {
  play();
  renderPart(<AddModel />);
  fireEvent.change(await screen.findByLabelText(/hub name such as/), { target: { value: "org/name" } });
  expect(screen.getByText("headscope models fetch org/name")).toBeTruthy();
});

it.each([
  ["", null],
  ["org/name", "headscope models fetch org/name"],
  ["/data/My Model/", "headscope models add my-model '/data/My Model/'"],
  ["./tiny", "headscope models add tiny ./tiny"],
  ["/data/Tiny.Q4.gguf", "headscope models add tiny.q4 /data/Tiny.Q4.gguf"],
])("reads %j as %j", (text, command) => expect(commandFor(text)).toBe(command));

it("says what a model takes and whether that is here", () => {
  expect(room({ ...GPT2, fits: "no" })).toContain("too much here");
  expect(room(GPT2)).not.toContain("too much");
});

const choose = async (content: string) => {
  const file = new File([content], "config.json", { type: "application/json" });
  fireEvent.change(await screen.findByLabelText(/Try its config.json/), { target: { files: [file] } });
};

it("tries a configuration and shows what is expected of its heads", async () => {
  const asked: Asked[] = [];
  play({
    "POST /api/v1/models/try": (one: Asked) => {
      asked.push(one);
      return TRIAL;
    },
  });
  renderPart(<AddModel />);
  await choose('{"model_type": "llama"}');
  const told = await screen.findByRole("region", { name: "What the configuration describes" });
  expect(asked[0]?.body.config).toBe('{"model_type": "llama"}');
  expect(told.textContent).toContain("16 layers of 32 heads over 8");
  expect(told.textContent).toContain("circuits from weights A norm is left out.");
  expect(told.textContent).toContain("noattribution: it differs by 0.3");
});

it("says why a configuration can't be used", async () => {
  play({
    "POST /api/v1/models/try": problem(422, {
      detail: "T5 is an encoder and a decoder.",
      remedy: "Choose a decoder-only model.",
    }),
  });
  renderPart(<AddModel />);
  await choose("{}");
  expect((await screen.findByRole("alert")).textContent).toContain("Choose a decoder-only model.");
});
