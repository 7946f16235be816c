// Look-ups in the weights of one head, answered by a worker that holds the model.
import { post } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];
type Signal = AbortSignal | undefined;

export type TablesOut = Schemas["TablesOut"];
export type Cell = Schemas["Cell"];
export type CrossedOut = Schemas["CrossedOut"];
export type CrossedPairs = Schemas["CrossedPairs"];
export type Trigram = Schemas["Trigram"];
export type TokenSearch = Schemas["TokenSearchOut"];
export type VirtualOut = Schemas["VirtualOut"];
export type Direction = Schemas["Direction"];
export type Weighed = Schemas["Weighed"];
export type Circuit = Schemas["TablesIn"]["circuit"];

/** Which head, of which weights. */
export interface HeadAsk {
  model: string;
  weight_processing?: "folded" | "raw";
  layer: number;
  head: number;
}

export const circuitsApi = {
  tables: (ask: HeadAsk & { circuit: Circuit; token?: number; top?: number }, signal?: Signal) =>
    post<TablesOut>("circuits/tables", ask, signal),
  crossed: (ask: HeadAsk & { source?: number; pairs?: [number, number][] }, signal?: Signal) =>
    post<CrossedOut>("circuits/crossed", ask, signal),
  virtual: (ask: Omit<HeadAsk, "layer" | "head"> & { writer: string; reader: string }, signal?: Signal) =>
    post<VirtualOut>("circuits/virtual", ask, signal),
  tokens: (model: string, text: string, signal?: Signal) =>
    post<TokenSearch>("circuits/tokens", { model, text }, signal),
};
