// Names for the lab's generated types; LabAsk is what all of its requests have in common.
import type { components } from "./schema";

type Schemas = components["schemas"];

/** A prompt by its text or by the id of a stored one; positions are token indices, BOS included. */
export type LabAsk = Pick<Schemas["LookIn"], "model" | "text" | "prompt" | "row" | "bos">;

export type GateRows = Schemas["GatesIn"]["gates"];
export type Bos = LookOut["bos"];
export type ScoreOut = Schemas["ScoreOut"];
export type LookOut = Schemas["LookOut"];
export type PatternsOut = Schemas["PatternsOut"];
export type GatesOut = Schemas["GatesOut"];
export type NextToken = Schemas["NextToken"];
export type Answer = Schemas["Answer"];
export type ContinueOut = Schemas["ContinueOut"];
export type HeadAblationOut = Schemas["HeadAblationOut"];
export type AttributionOut = Schemas["AttributionOut"];
export type LensOut = Schemas["LensOut"];
export type PromptRows = Schemas["PromptRows"];
export type PromptExample = Schemas["PromptExample"];
export type GatePreset = Schemas["GatePreset"];
export type Prompt = Schemas["PromptOut"];
export type GateVector = Schemas["GateVectorOut"];
export type Tokenized = Schemas["TokenizeOut"];

/** What a share of a lab view keeps: the server asks a worker once more, and keeps what it says. */
export type LabShareRequest = Schemas["LabShareIn"];
/** A lab view as a share keeps it: nothing of it needs a worker. */
export type SharedLab = Schemas["SharedLab"];
