// From a JSON schema of flat parameters to fields, and from what was typed to values that hold to it.
import { type Schema, Validator } from "@cfworker/json-schema";

export type Value = string | number | boolean | null;
export type Values = Record<string, Value>;

export interface Field {
  name: string;
  title: string;
  description: string;
  kind: "integer" | "number" | "text" | "flag" | "choice";
  choices: string[];
  /** May be left empty. */
  optional: boolean;
  minimum?: number;
  maximum?: number;
  initial: Value;
}

type Property = {
  type?: string | string[];
  anyOf?: Property[];
  enum?: unknown[];
  const?: unknown;
  title?: string;
  description?: string;
  default?: Value;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
};

const KINDS: Record<string, Field["kind"]> = {
  integer: "integer",
  number: "number",
  boolean: "flag",
  string: "text",
};

function fieldOf(name: string, property: Property): Field {
  const parts = property.anyOf ?? [property];
  const types = parts.flatMap((part) => part.type ?? []);
  const own = parts.find((part) => part.type !== "null") ?? property;
  const type = types.find((one) => one !== "null") ?? "string";
  const choices = (own.enum ?? (own.const === undefined ? [] : [own.const])).map(String);
  return {
    name,
    title: property.title ?? name,
    description: property.description ?? own.description ?? "",
    kind: choices.length > 0 ? "choice" : (KINDS[type] ?? "text"),
    choices,
    optional: types.includes("null"),
    minimum: own.minimum ?? own.exclusiveMinimum,
    maximum: own.maximum ?? own.exclusiveMaximum,
    initial: property.default ?? null,
  };
}

/** The schema's fields in its own order, those that a preset names first: they matter most. */
export function fieldsOf(
  schema: Record<string, unknown>,
  presets: Record<string, Record<string, unknown>>,
): Field[][] {
  const properties = (schema.properties ?? {}) as Record<string, Property>;
  const fields = Object.entries(properties).map(([name, property]) => fieldOf(name, property));
  const named = new Set(Object.values(presets).flatMap((preset) => Object.keys(preset)));
  return [fields.filter((field) => named.has(field.name)), fields.filter((field) => !named.has(field.name))];
}

/** Every parameter's value under a preset. */
export function presetValues(fields: readonly Field[], preset: Record<string, unknown>): Values {
  return Object.fromEntries(
    fields.map((field) => [field.name, (preset[field.name] as Value | undefined) ?? field.initial]),
  );
}

/** What differs from the preset: only that is sent. */
export function overrides(values: Values, base: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== base[name]));
}

/** What was typed as a value; NaN where it isn't a number. */
export function typed(field: Field, text: string): Value {
  if (field.kind === "choice" || field.kind === "text") return text === "" && field.optional ? null : text;
  if (text.trim() === "") return field.optional ? null : Number.NaN;
  return Number(text);
}

function complaint(field: Field, value: Value): string {
  if (field.kind === "integer" || field.kind === "number") {
    const range = [
      field.minimum === undefined ? "" : `from ${field.minimum}`,
      field.maximum === undefined ? "" : `to ${field.maximum.toLocaleString("en-US")}`,
    ]
      .filter(Boolean)
      .join(" ");
    return `${value === null || Number.isNaN(value) ? "Needs" : "Must be"} a ${field.kind === "integer" ? "whole " : ""}number${range ? ` ${range}` : ""}.`;
  }
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
    if (typeof value === "number" && !Number.isFinite(value)) found[field.name] = complaint(field, value);
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
