/** What stands in the stream: the kind of a component, and which one where there are several. */
export interface Component {
  kind: string;
  layer: number;
  head: number;
}

interface Kind {
  value: string;
  text: string;
}

export const WRITERS: readonly Kind[] = [
  { value: "embed", text: "the token embedding" },
  { value: "position", text: "the learned positions" },
  { value: "head", text: "a head" },
  { value: "mlp", text: "an MLP" },
];

export const READERS: readonly Kind[] = [
  { value: "q", text: "a head’s queries" },
  { value: "k", text: "a head’s keys" },
  { value: "v", text: "a head’s values" },
  { value: "mlp", text: "an MLP" },
  { value: "unembed", text: "the unembedding" },
];

const WHOLE = new Set(["embed", "position", "unembed"]);

/** As the API names it: "embed", "mlp 3", "0.3", "1.5 k". */
export function componentName({ kind, layer, head }: Component): string {
  if (WHOLE.has(kind)) return kind;
  if (kind === "mlp") return `mlp ${layer}`;
  return kind === "head" ? `${layer}.${head}` : `${layer}.${head} ${kind}`;
}

/** The inverse; anything else is the token embedding, and whoever typed it hears from the server. */
export function parseComponent(name: string): Component {
  const [, mlp, layer, head, part] = /^(?:mlp (\d{1,4})|(\d{1,4})\.(\d{1,4})(?: ([qkv]))?)$/.exec(name) ?? [];
  if (mlp !== undefined) return { kind: "mlp", layer: Number(mlp), head: 0 };
  if (layer !== undefined) return { kind: part ?? "head", layer: Number(layer), head: Number(head) };
  return { kind: WHOLE.has(name) ? name : "embed", layer: 0, head: 0 };
}

interface ComponentPickerProps {
  label: string;
  kinds: readonly Kind[];
  layers: number;
  heads: number;
  value: Component;
  onChange: (value: Component) => void;
}

export function ComponentPicker({ label, kinds, layers, heads, value, onChange }: ComponentPickerProps) {
  const { kind, layer, head } = value;
  return (
    <fieldset className="component-picker">
      <legend>{label}</legend>
      <select
        aria-label={`${label}: what`}
        value={kind}
        onChange={({ target }) => onChange({ ...value, kind: target.value })}
      >
        {kinds.map(({ value: one, text }) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
      {!WHOLE.has(kind) && (
        <NumberPicker
          label={`${label}: layer`}
          most={layers}
          value={layer}
          onChange={(next) => onChange({ ...value, layer: next })}
        />
      )}
      {!WHOLE.has(kind) && kind !== "mlp" && (
        <NumberPicker
          label={`${label}: head`}
          most={heads}
          value={head}
          onChange={(next) => onChange({ ...value, head: next })}
        />
      )}
    </fieldset>
  );
}

interface NumberPickerProps {
  label: string;
  most: number;
  value: number;
  onChange: (value: number) => void;
}

function NumberPicker({ label, most, value, onChange }: NumberPickerProps) {
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChange(Number(target.value))}>
      {Array.from({ length: Math.max(most, value + 1) }, (_, i) => (
        <option key={i} value={i}>
          {label.endsWith("layer") ? `layer ${i}` : `head ${i}`}
        </option>
      ))}
    </select>
  );
}
