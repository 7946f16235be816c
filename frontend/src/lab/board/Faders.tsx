import { type CSSProperties, useRef } from "react";
import { headName } from "../../url/view";
import { type GateState, gateWords, headAt, type Sizes, set, toggled } from "../state/gates";

interface FadersProps {
  sizes: Sizes;
  gates: GateState;
  /** The heads that have a fader, in their order. */
  shown: readonly number[];
  marked: ReadonlySet<number>;
  readOnly: boolean;
  onGates: (next: GateState, step: boolean) => void;
}

/** A slider a head: what the hand reaches for first. */
export function Faders({ sizes, gates, shown, marked, readOnly, onGates }: FadersProps) {
  const held = (at: number) => (marked.has(at) ? [...marked] : [at]);
  return (
    <ul className="faders" aria-label="Faders">
      {shown.map((at) => (
        <Fader
          key={at}
          name={headName(headAt(sizes, at))}
          value={gates[at] ?? 1}
          marked={marked.has(at)}
          readOnly={readOnly}
          onSet={(value, step) => onGates(set(gates, held(at), value), step)}
          onToggle={() => onGates(toggled(gates, held(at)), true)}
        />
      ))}
    </ul>
  );
}

interface FaderProps {
  name: string;
  value: number;
  marked: boolean;
  readOnly: boolean;
  onSet: (value: number, step: boolean) => void;
  onToggle: () => void;
}

function Fader({ name, value, marked, readOnly, onSet, onToggle }: FaderProps) {
  const [layer, head] = name.split(".");
  const moving = useRef(false);
  const look = value === 0 ? "fader shut" : value < 1 ? "fader half" : "fader";
  // A movement ends once, and only where there was one: passing by with Tab sets nothing.
  const end = (input: HTMLInputElement) => {
    if (moving.current) onSet(Number(input.value), true);
    moving.current = false;
  };
  return (
    <li className={marked ? `${look} marked` : look}>
      <input
        type="range"
        min={0}
        max={1}
        step={0.01}
        value={value}
        disabled={readOnly}
        aria-label={`Gate of layer ${layer}, head ${head}`}
        aria-valuetext={gateWords(value)}
        aria-orientation="vertical"
        style={{ "--gate": `${value * 100}%` } as CSSProperties}
        onChange={(event) => {
          moving.current = true;
          onSet(Number(event.target.value), false);
        }}
        onPointerUp={(event) => end(event.currentTarget)}
        onKeyUp={(event) => end(event.currentTarget)}
        onBlur={(event) => end(event.currentTarget)}
      />
      <button
        type="button"
        className="fader-name"
        disabled={readOnly}
        aria-label={`${value === 0 ? "Open" : "Mute"} layer ${layer}, head ${head}`}
        title={`${name} is ${gateWords(value)}: ${value === 0 ? "open it" : "mute it"}`}
        onClick={onToggle}
      >
        {name}
      </button>
    </li>
  );
}
