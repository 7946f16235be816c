import { useMemo } from "react";
import type { MapWords, Result, Run } from "../../api/types";
import { plural, share, shareRange } from "../../format/numbers";
import { decode, isTypedArray } from "../../plot/arrays";
import { analysisTitle } from "../../results/RunTitle";

/** Rows of the held-out arrays: the model as it is, then under G0, G+ and G−. */
const [UNGATED, , PLUS] = [0, 1, 2];

function heldOut({ heldout_accuracy: field }: Result): { ungated: number; plus: number[] } | null {
  if (!isTypedArray(field)) return null;
  const { shape, values } = decode(field);
  const seeds = shape[1] ?? 0;
  const row = (condition: number) => Array.from(values.slice(condition * seeds, (condition + 1) * seeds));
  const ungated = row(UNGATED ?? 0).filter(Number.isFinite);
  if (ungated.length === 0) return null;
  return { ungated: ungated.reduce((sum, value) => sum + value, 0) / ungated.length, plus: row(PLUS ?? 2) };
}

interface FactsLineProps {
  run: Run;
  result: Result | undefined;
  words: MapWords;
}

/** "Causal head gating · 5 seeds · 30 layers × 9 heads · held-out accuracy .42 ungated → .84–.92 …" */
export function FactsLine({ run, result, words }: FactsLineProps) {
  const accuracy = useMemo(() => (result ? heldOut(result) : null), [result]);
  const layers = run.model_info?.n_layers;
  const heads = run.model_info?.n_heads;
  return (
    <p className="facts">
      {analysisTitle(run)} ·{" "}
      {run.partial && result
        ? `${result.seeds.length} of ${plural(run.seeds.length, "seed")}`
        : plural(run.seeds.length, "seed")}
      {typeof layers === "number" && typeof heads === "number" && ` · ${layers} layers × ${heads} heads`}
      {accuracy && (
        <>
          {" · held-out accuracy "}
          <b>{share(accuracy.ungated)}</b> ungated → <b>{shareRange(accuracy.plus)}</b> {words.lifted}
        </>
      )}
      {run.origin === "gallery" && " · shipped result"}
    </p>
  );
}
