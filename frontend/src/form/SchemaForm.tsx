import { useEffect, useId, useState } from "react";
import { type Field, same, textOf, typed, type Value, type Values } from "./schema";

interface SchemaFormProps {
  /** Groups of fields; all but the first are folded away. */
  groups: Field[][];
  values: Values;
  complaints: Record<string, string>;
  onChange: (values: Values) => void;
}

/** A form drawn from a JSON schema. */
export function SchemaForm({ groups, values, complaints, onChange }: SchemaFormProps) {
  const field = (one: Field) => (
    <FieldInput
      key={one.name}
      field={one}
      value={values[one.name] ?? null}
      complaint={complaints[one.name]}
      onChange={(value) => onChange({ ...values, [one.name]: value })}
    />
  );
  const [first = [], ...rest] = groups;
  const more = rest.flat();
  return (
    <>
      <div className="fields">{first.map(field)}</div>
      {more.length > 0 && (
        <details className="more-fields" open={more.some((one) => complaints[one.name]) || undefined}>
          <summary>More settings</summary>
          <div className="fields">{more.map(field)}</div>
        </details>
      )}
    </>
  );
}

interface FieldInputProps {
  field: Field;
  value: Value;
  complaint: string | undefined;
  onChange: (value: Value) => void;
}

function FieldInput({ field, value, complaint, onChange }: FieldInputProps) {
  const id = useId();
  const described = `${id}-hint`;
  const shared = { id, "aria-describedby": described, "aria-invalid": complaint !== undefined };
  return (
    <div className={complaint ? "field bad" : "field"}>
      <label htmlFor={id}>{field.title}</label>
      {field.kind === "choice" ? (
        <select
          {...shared}
          value={String(value ?? "")}
          onChange={(event) => onChange(typed(field, event.target.value))}
        >
          {field.optional && <option value="">–</option>}
          {field.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : field.kind === "flag" ? (
        <input
          {...shared}
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
      ) : (
        <TextInput field={field} value={value} onChange={onChange} shared={shared} />
      )}
      <p id={described} className={complaint ? "hint complaint" : "hint"}>
        {complaint ?? field.description}
      </p>
    </div>
  );
}

interface TextInputProps extends Omit<FieldInputProps, "complaint"> {
  shared: { id: string; "aria-describedby": string; "aria-invalid": boolean };
}

/** Keeps what was typed as it was typed ("0.", "1e-"), while the form gets its value. */
function TextInput({ field, value, onChange, shared }: TextInputProps) {
  const [text, setText] = useState(() => textOf(value));
  useEffect(() => {
    // NaN is what an unfinished number is; writing it back would take the text from under the typist.
    setText((now) => (same(typed(field, now), value) || Number.isNaN(value) ? now : textOf(value)));
  }, [field, value]);
  return (
    <input
      {...shared}
      type="text"
      inputMode={field.kind === "text" ? "text" : "decimal"}
      placeholder={field.optional ? "unset" : undefined}
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        onChange(typed(field, event.target.value));
      }}
    />
  );
}
