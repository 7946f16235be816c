interface ThresholdSliderProps {
  threshold: number;
  onThreshold: (threshold: number) => void;
}

/** From which score on a head has a role. */
export function ThresholdSlider({ threshold, onThreshold }: ThresholdSliderProps) {
  return (
    <label
      className="slider"
      title="A head has a role where its score is at least this. Nothing is fitted again."
    >
      <span>
        role at ≥ <output>{threshold.toFixed(2)}</output>
      </span>
      <input
        type="range"
        min={0.05}
        max={1}
        step={0.01}
        value={threshold}
        aria-label="Role threshold"
        onChange={(event) => onThreshold(Number(event.target.value))}
      />
    </label>
  );
}
