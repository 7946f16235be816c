import { useId } from "react";

interface SegmentedProps<T extends string> {
  label: string;
  options: readonly { value: T; text: string; hint?: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** One of a few: radio buttons that look like one control. */
export function Segmented<T extends string>({ label, options, value, onChange }: SegmentedProps<T>) {
  const name = useId();
  return (
    <fieldset className="segmented">
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value} title={option.hint} className={option.value === value ? "on" : ""}>
          <input
            type="radio"
            className="visually-hidden"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.text}
        </label>
      ))}
    </fieldset>
  );
}
