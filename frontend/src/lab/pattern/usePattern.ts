import { useMemo } from "react";
import { useAskAgain } from "../../api/askAgain";
import { labApi } from "../../api/lab";
import { forget, type Resource, useResource } from "../../api/resource";
import { indexOf } from "../state/gates";
import type { Lab } from "../state/useLab";
import { type Pattern, patternOfThumb, readPatterns } from "./triangle";

/**
 * The selected head's pattern. A short prompt's comes with the look; of a long one, whose small pictures are
 * coarse, the head's layer is asked for.
 */
export function usePattern({
  ask,
  look: { data: look },
  head,
  view,
  readOnly,
}: Lab): Resource<Pattern | null> {
  const { weighted } = view;
  const exact = useMemo(() => {
    if (!look || !head || look.thumbs.block > 1) return null;
    return patternOfThumb(look.thumbs.values, indexOf(look, head), look.tokens.length);
  }, [look, head]);
  const layer = look && head && !exact ? head.layer : null;
  const key = ask && layer !== null && !readOnly ? `layer ${JSON.stringify([ask, weighted, layer])}` : null;
  const layers = useResource(key, async (signal) => {
    if (!ask || layer === null) return [];
    const out = await labApi.patterns({ ...ask, layers: [layer], weighted, compact: true }, signal);
    forget("layer "); // a long prompt's layer is large: the current one is enough
    return readPatterns(out);
  });
  const { data, ...rest } = layers;
  useAskAgain(rest.error, rest.reload);
  return { ...rest, data: exact ?? (head && data?.[head.head]) ?? null };
}
