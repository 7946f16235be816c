import { type ReactNode, useEffect, useId, useState } from "react";
import { type Field, same, textOf, typed, type Value, type Values } from "./schema";

interface SchemaFormProps {
  /** Groups of fields; all but the first are folded away. */
  groups: Field[][];
  values: Values;
  complaints: Record<string, string>;
  onChange: (values: Values) => void;
  /** What stands in place of an input: a picker of what is stored, say. Undefined leaves the input. */
  picker?: (input: PickerInput) => ReactNode | undefined;
}

/** What a picker gets: the field, its value, and what ties it to its label and hint. */
export interface PickerInput {
  field: Field;
  value: Value;
  onChange: (value: Value) => void;
  shared: { id: string; "aria-describedby": string; "aria-invalid": boolean };
}

/** A form drawn from a JSON schema. */
export function SchemaForm({ groups, values, complaints, onChange, picker }: SchemaFormProps) {
  const field = (one: Field) => (
    <FieldInput
      key={one.name}
      field={one}
      value={values[one.name] ?? null}
      complaint={complaints[one.name]}
      onChange={(value) => onChange({ ...values, [one.name]: value })}
      picker={picker}
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
  picker?: SchemaFormProps["picker"];
}

function FieldInput({ field, value, complaint, onChange, picker }: FieldInputProps) {
  const id = useId();
  const described = `${id}-hint`;
  const shared = { id, "aria-describedby": described, "aria-invalid": complaint !== undefined };
  const picked = picker?.({ field, value, onChange, shared });
  return (
    <div className={complaint ? "field bad" : "field"}>
      <label htmlFor={id}>{field.title}</label>
      {picked !== undefined ? (
        picked
      ) : field.kind === "choice" ? (
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

type TextInputProps = PickerInput;

/** Keeps what was typed as it was typed ("0.", "1e-"), while the form gets its value. */
function TextInput({ field, value, onChange, shared }: TextInputProps) {
  const [text, setText] = useState(() => textOf(value));
  useEffect(() => {
    // NaN is what an unfinished number is; writing it back would take the text from under the typist.
    setText((now) => (same(typed(field, now), value) || Number.isNaN(value) ? now : textOf(value)));
  }, [field, value]);
  const input = {
    ...shared,
    placeholder: field.optional ? "unset" : undefined,
    value: text,
    onChange: (event: { target: { value: string } }) => {
      setText(event.target.value);
      onChange(typed(field, event.target.value));
    },
  };
  if (field.kind === "texts") return <textarea {...input} rows={3} />;
  const isText =
    field.kind === "text" || field.kind === "heads" || field.kind === "json" || field.words.length > 0;
  const words = `${shared.id}-words`;
  return (
    <>
      <input
        {...input}
        type="text"
        inputMode={isText ? "text" : "decimal"}
        list={field.words.length > 0 ? words : undefined}
      />
      {field.words.length > 0 && (
        <datalist id={words}>
          {field.words.map((word) => (
            <option key={word} value={word} />
          ))}
        </datalist>
      )}
    </>
  );
}
