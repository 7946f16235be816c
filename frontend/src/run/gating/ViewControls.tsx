import type { MapWords } from "../../api/types";
import { Segmented } from "../../parts/Segmented";
import { ThresholdSlider } from "../../results/ThresholdSlider";
import type { Mode, View } from "../../url/view";

const MODES: { value: Mode; text: string; hint: string }[] = [
  { value: "every", text: "Every seed", hint: "One stripe for each seed" },
  { value: "always", text: "Always", hint: "Roles that hold in every seed" },
  { value: "any", text: "Any", hint: "Roles that hold in at least one seed" },
];

/** Verdicts as the size of a cell's filling, and when they are given. */
const SIZES = [
  ["replicates", "A new fit gives the role with probability 0.8 or more, at 90 %"],
  ["leans", "A new fit gives the role more often than not, at 95 %"],
  ["undecided", "Neither is known yet"],
] as const;

interface ViewControlsProps {
  view: View;
  onView: (view: View) => void;
  onThreshold: (threshold: number) => void;
  /** Whether some stripe has no role at this threshold. */
  undecided: boolean;
  words: MapWords;
}

export function ViewControls({ view, onView, onThreshold, undecided, words }: ViewControlsProps) {
  return (
    <div className="controls">
      <Segmented
        label="Seeds"
        options={MODES}
        value={view.mode}
        onChange={(mode) => onView({ ...view, mode })}
      />
      <ThresholdSlider threshold={view.threshold} onThreshold={onThreshold} />
      <ul className="legend" aria-label="Colours">
        {[1, 2, 3, 4, ...(undecided ? [0] : [])].map((code) => (
          <li key={code} title={words.terms[code]}>
            <i className={`swatch role-${code}`} />
            {words.roles[code]}
          </li>
        ))}
      </ul>
      <ul className="legend" aria-label="Sizes">
        {SIZES.map(([verdict, hint]) => (
          <li key={verdict} title={hint}>
            <i className={`fullness ${verdict}`} />
            {verdict}
          </li>
        ))}
      </ul>
    </div>
  );
}
