// Look-ups in the weights of one head, answered by a worker that holds the model.
import { queryOptions } from "@tanstack/react-query";
import { answered, http } from "./http";
import { FIXED } from "./queries";
import type { components } from "./schema";

type Schemas = components["schemas"];

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
export type HeadAsk = Pick<Schemas["CrossedIn"], "model" | "weight_processing" | "layer" | "head">;

/** The strongest pairs of tokens across a head's circuits. */
export function crossed(body: Schemas["CrossedIn"]): Promise<CrossedOut> {
  return answered(http.POST("/api/v1/circuits/crossed", { body }));
}

export const circuitQueries = {
  tables: (body: Schemas["TablesIn"]) =>
    queryOptions({
      queryKey: ["circuits", "tables", body],
      queryFn: ({ signal }) => answered(http.POST("/api/v1/circuits/tables", { body, signal })),
      ...FIXED,
    }),
  virtual: (body: Schemas["VirtualIn"]) =>
    queryOptions({
      queryKey: ["circuits", "virtual", body],
      queryFn: ({ signal }) => answered(http.POST("/api/v1/circuits/virtual", { body, signal })),
      ...FIXED,
    }),
  tokens: (model: string, text: string) =>
    queryOptions({
      queryKey: ["circuits", "tokens", model, text],
      queryFn: ({ signal }) =>
        answered(http.POST("/api/v1/circuits/tokens", { body: { model, text }, signal })),
      ...FIXED,
    }),
};
