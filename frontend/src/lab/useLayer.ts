import { labApi } from "../api/lab";
import { forget, type Resource, useResource } from "../api/resource";
import type { Lab } from "./state";
import { type Pattern, readPatterns } from "./triangle";

/** The patterns of the selected head's layer, asked for when a head is selected. */
export function useLayer({ ask, head, view, readOnly }: Lab): Resource<Pattern[]> {
  const { weighted } = view;
  const layer = head?.layer ?? null;
  const key = ask && layer !== null && !readOnly ? `layer ${JSON.stringify([ask, weighted, layer])}` : null;
  return useResource(key, async (signal) => {
    if (!ask || layer === null) return [];
    const out = await labApi.patterns({ ...ask, layers: [layer], weighted, compact: true }, signal);
    forget("layer "); // a long prompt's layer is large: the one in hand is enough
    return readPatterns(out);
  });
}
