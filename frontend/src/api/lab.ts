// The lab's requests: one function a route. The newest answer counts; callers abort what they no longer want.
import { address, get, json, part, post, remove } from "./client";
import type {
  AttributionOut,
  ContinueOut,
  GatePreset,
  GateRows,
  GatesOut,
  GateVector,
  HeadAblationOut,
  LabAsk,
  LensOut,
  LookOut,
  PatternsOut,
  Prompt,
  PromptExample,
  PromptRows,
  Tokenized,
} from "./labTypes";

type Signal = AbortSignal | undefined;

// The page's own name: of what it asks of one route and still waits, the worker computes the newest only.
const board = Math.random().toString(36).slice(2);
let turn = 0;

function newest<Ask>(ask: Ask): Ask & { board: string; turn: number } {
  turn += 1;
  return { ...ask, board, turn };
}

export const labApi = {
  look: (ask: LabAsk & { fold?: boolean; weighted?: boolean; gates?: GateRows | null }, signal?: Signal) =>
    post<LookOut>("lab/look", newest(ask), signal),
  patterns: (ask: LabAsk & { layers: number[]; weighted: boolean; compact: boolean }, signal?: Signal) =>
    post<PatternsOut>("lab/patterns", ask, signal),
  gates: (
    ask: LabAsk & { gates: GateRows; top?: number; at?: number | null; answers?: number[] },
    signal?: Signal,
  ) => post<GatesOut>("lab/gates", newest(ask), signal),
  continue: (
    ask: LabAsk & { gates: GateRows; n_tokens: number; temperature: number; seed: number },
    signal?: Signal,
  ) => post<ContinueOut>("lab/continue", ask, signal),
  ablation: (ask: LabAsk & { layer: number; head: number; fold: boolean }, signal?: Signal) =>
    post<HeadAblationOut>("lab/ablation", newest(ask), signal),
  attribution: (
    ask: LabAsk & {
      at?: number | null;
      token?: number | null;
      against?: number | null;
      gates?: GateRows | null;
    },
    signal?: Signal,
  ) => post<AttributionOut>("lab/attribution", ask, signal),
  lens: (
    ask: LabAsk & { at?: number | null; token?: number | null; gates?: GateRows | null },
    signal?: Signal,
  ) => post<LensOut>("lab/lens", ask, signal),

  tokenize: (model: string, text: string, bos: boolean | null, signal?: Signal) =>
    post<Tokenized>("prompts/tokenize", { model, text, bos }, signal),
  prompts: (signal?: Signal) => get<Prompt[]>("prompts", {}, signal),
  prompt: (id: string, page: { offset: number; limit: number }, signal?: Signal) =>
    get<PromptRows>(`prompts/${part(id)}`, page, signal),
  promptExamples: (model: string, signal?: Signal) =>
    get<PromptExample[]>("prompts/examples", { model }, signal),
  keepPrompt: (text: string, name = "") => post<Prompt>("prompts", { text, name }),
  uploadPrompts: (form: FormData) => json<Prompt>(address("prompts/upload"), { method: "POST", body: form }),
  deletePrompt: (id: string) => remove(`prompts/${part(id)}`),

  gateVectors: (model: string, signal?: Signal) => get<GateVector[]>("gates", { model }, signal),
  gateVector: (id: string, signal?: Signal) => get<GateVector>(`gates/${part(id)}`, {}, signal),
  keepGates: (vector: { name: string; model: string; gates: GateRows; origin?: string }) =>
    post<GateVector>("gates", vector),
  keepGatesOfRun: (run: string, preset?: string) =>
    post<GateVector>(`gates/of-run/${part(run)}${preset ? `?preset=${part(preset)}` : ""}`, {}),
  deleteGates: (id: string) => remove(`gates/${part(id)}`),
  gatePresets: (run: string, query: { seed: string; threshold: number }, signal?: Signal) =>
    get<GatePreset[]>(`runs/${part(run)}/gates`, query, signal),
};
