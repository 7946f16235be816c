interface StrengthSliderProps {
  threshold: number;
  onThreshold: (threshold: number) => void;
}

/** How strong a pair must be to be drawn, as a share of the strongest. */
export function StrengthSlider({ threshold, onThreshold }: StrengthSliderProps) {
  return (
    <label className="slider" title="Pairs that score at least this share of the strongest pair are drawn.">
      <span>
        pairs at ≥ <output>{Math.round(threshold * 100)} %</output> of the strongest
      </span>
      <input
        type="range"
        min={0.05}
        max={1}
        step={0.01}
        value={threshold}
        aria-label="Least strength of a pair"
        onChange={({ target }) => onThreshold(Math.round(Number(target.value) * 100) / 100)}
      />
    </label>
  );
}
