import { useState } from "react";
import { Menu, MenuItem } from "../../parts/Menu";
import { parseHead } from "../../url/heads";
import { changed, has, indexOf, type Sizes } from "../state/gates";
import { useLab } from "../state/useLab";
import { type BoardScore, muted, namesOf, randomOfSameSize } from "./board";
import { RunGates } from "./RunGates";
import { SavedGates } from "./SavedGates";

interface PresetsProps {
  sizes: Sizes;
  score: BoardScore | null;
}

/** Gates to start from: what the prompt suggests, what a finished run found, what was kept. */
export function Presets({ sizes, score }: PresetsProps) {
  const { gates, setGates, prompt } = useLab();
  const [open, setOpen] = useState<"run" | "kept" | null>(null);
  const example = (prompt.example?.mute ?? [])
    .map(parseHead)
    .flatMap((head) => (head && has(sizes, head) ? [indexOf(sizes, head)] : []));
  const take = (heads: readonly number[]) => setGates(muted(sizes, heads));
  const n = changed(gates).length;
  return (
    <>
      <Menu label="Preset ▾" title="Gates to start from">
        {example.length > 0 && (
          <MenuItem onSelect={() => take(example)}>
            Mute {namesOf(sizes, example)}, as in this example
          </MenuItem>
        )}
        {score &&
          [1, 3, 10]
            .filter((most) => most < score.order.length)
            .map((most) => (
              <MenuItem key={most} onSelect={() => take(score.order.slice(0, most))}>
                Mute the {most === 1 ? "strongest" : `${most} strongest`} ({score.title.toLowerCase()})
              </MenuItem>
            ))}
        <MenuItem disabled={n === 0} onSelect={() => setGates(randomOfSameSize(gates, sizes))}>
          {n === 0 ? "The same number at random" : `Mute ${n} at random, as a control`}
        </MenuItem>
        <MenuItem onSelect={() => setOpen("run")}>From a finished run…</MenuItem>
        <MenuItem onSelect={() => setOpen("kept")}>Saved gates…</MenuItem>
      </Menu>
      {open === "run" && <RunGates sizes={sizes} onClose={() => setOpen(null)} />}
      {open === "kept" && <SavedGates sizes={sizes} onClose={() => setOpen(null)} />}
    </>
  );
}
