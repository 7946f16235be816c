import { useId } from "react";
import type { Analysis } from "../api/types";

interface AnalysisPickerProps {
  analyses: Analysis[];
  value: string;
  onPick: (name: string) => void;
}

/** What to compute, in words. */
export function AnalysisPicker({ analyses, value, onPick }: AnalysisPickerProps) {
  const name = useId();
  return (
    <fieldset className="analysis-picker">
      <legend className="visually-hidden">What to compute</legend>
      {analyses.map((analysis) => (
        <label key={analysis.name} className={analysis.name === value ? "on" : ""}>
          <input
            type="radio"
            name={name}
            value={analysis.name}
            checked={analysis.name === value}
            onChange={() => onPick(analysis.name)}
          />
          <span>
            <strong>{analysis.title}</strong>
            <span className="muted small">{analysis.summary}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
