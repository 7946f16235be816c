// Whether values hold to their schema. Apart from the fields: the validator is needed on the form's page only.
import { type Schema, Validator } from "@cfworker/json-schema";
import type { Field, Value, Values } from "./schema";

function complaint(field: Field, value: Value): string {
  if (field.kind === "integer" || field.kind === "number") {
    const range = [
      field.minimum === undefined ? "" : `from ${field.minimum}`,
      field.maximum === undefined ? "" : `to ${field.maximum.toLocaleString("en-US")}`,
    ]
      .filter(Boolean)
      .join(" ");
    const words = field.words.map((word) => `, or ${word}`).join("");
    return `${value === null || Number.isNaN(value) ? "Needs" : "Must be"} a ${field.kind === "integer" ? "whole " : ""}number${range ? ` ${range}` : ""}${words}.`;
  }
  if (field.kind === "numbers") return "Needs numbers separated by commas.";
  if (field.kind === "json") return "Needs a JSON list.";
  return field.kind === "choice" ? `One of ${field.choices.join(", ")}.` : "This value doesn’t fit.";
}

/** Complaints by field; empty where everything holds to the schema. */
export function complaints(
  schema: Record<string, unknown>,
  fields: readonly Field[],
  values: Values,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const field of fields) {
    const value = values[field.name] ?? null;
    if ([value].flat().some((item) => typeof item === "number" && !Number.isFinite(item)))
      found[field.name] = complaint(field, value);
  }
  const finite = Object.fromEntries(Object.entries(values).filter(([name]) => !(name in found)));
  const { errors } = new Validator({ ...schema, required: [] } as Schema, "2020-12", false).validate(finite);
  for (const { instanceLocation } of errors) {
    const name = instanceLocation.replace(/^#\/?/, "").split("/")[0] ?? "";
    const field = fields.find((one) => one.name === name);
    if (field) found[name] ??= complaint(field, values[name] ?? null);
  }
  return found;
}
