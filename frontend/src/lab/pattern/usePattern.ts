import { useMemo } from "react";
import { labQueries } from "../../api/lab";
import { type Loaded, useWorkerQuery } from "../../api/query";
import { indexOf } from "../state/gates";
import type { Lab } from "../state/useLab";
import { type Pattern, patternOfThumb, readPatterns } from "./triangle";

/**
 * The selected head's pattern. A short prompt's comes with the look; of a long one, whose small pictures are
 * coarse, the head's layer is asked for.
 */
export function usePattern({ ask, look: { data: look }, head, view, readOnly }: Lab): Loaded<Pattern | null> {
  const { weighted } = view;
  const exact = useMemo(() => {
    if (!look || !head || look.thumbs.block > 1) return null;
    const { values, sinks } = look.thumbs;
    return patternOfThumb(values, indexOf(look, head), look.tokens.length, sinks);
  }, [look, head]);
  const layer = look && head && !exact ? head.layer : null;
  const { data, ...rest } = useWorkerQuery({
    ...labQueries.patterns(
      { ...(ask ?? { model: "" }), layers: layer === null ? [] : [layer], weighted, compact: true },
      readPatterns,
    ),
    enabled: ask !== null && layer !== null && !readOnly,
  });
  return { ...rest, data: exact ?? (head && data?.[head.head]) ?? null };
}
