// From a JSON schema of flat parameters to fields, and from what was typed to values.

export type Item = string | number | boolean | null;
export type Value = Item | Value[];
export type Values = Record<string, Value>;

export interface Field {
  name: string;
  title: string;
  description: string;
  /** A list is typed with commas between, or one text a line; deeper ones as JSON. */
  kind: "integer" | "number" | "text" | "heads" | "flag" | "choice" | "numbers" | "texts" | "json";
  choices: string[];
  /** What may be typed in a number's place, such as auto. */
  words: string[];
  /** May be left empty. */
  optional: boolean;
  /** Must be chosen although its default is nothing. */
  needed: boolean;
  minimum?: number;
  maximum?: number;
  initial: Value;
}

type Property = {
  type?: string | string[];
  format?: string;
  anyOf?: Property[];
  items?: Property;
  prefixItems?: Property[];
  $ref?: string;
  enum?: unknown[];
  const?: unknown;
  title?: string;
  description?: string;
  default?: Value;
  needed?: boolean;
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

function kindOf(own: Property): Field["kind"] {
  const type = [own.type ?? "string"].flat().find((one) => one !== "null") ?? "string";
  if (own.format === "heads") return "heads";
  if (type !== "array") return KINDS[type] ?? (type === "object" ? "json" : "text");
  const item = own.prefixItems ? "array" : own.items?.type;
  return item === "string" ? "texts" : item === "integer" || item === "number" ? "numbers" : "json";
}

function fieldOf(name: string, property: Property, definitions: Record<string, Property>): Field {
  const resolved = (one: Property) => definitions[one.$ref?.split("/").at(-1) ?? ""] ?? one;
  const parts = (property.anyOf ?? [property]).map(resolved);
  const types = parts.flatMap((part) => part.type ?? []);
  const own = parts.find((part) => part.type !== "null") ?? property;
  const choices = (own.enum ?? (own.const === undefined ? [] : [own.const])).map(String);
  return {
    name,
    title: property.title ?? name,
    description: property.description ?? own.description ?? "",
    kind: choices.length > 0 ? "choice" : kindOf(own),
    choices,
    words: parts
      .filter((part) => part !== own && part.const !== undefined)
      .map(({ const: word }) => String(word)),
    optional: types.includes("null"),
    needed: property.needed === true,
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
  const definitions = (schema.$defs ?? {}) as Record<string, Property>;
  const fields = Object.entries(properties).map(([name, property]) => fieldOf(name, property, definitions));
  const named = new Set(Object.values(presets).flatMap((preset) => Object.keys(preset)));
  return [fields.filter((field) => named.has(field.name)), fields.filter((field) => !named.has(field.name))];
}

/** Every parameter's value under a preset. */
export function presetValues(fields: readonly Field[], preset: Record<string, unknown>): Values {
  return Object.fromEntries(
    fields.map((field) => [field.name, (preset[field.name] as Value | undefined) ?? field.initial]),
  );
}

/** What was filled in beforehand, as it would be typed; names that aren't fields are left out. */
export function filled(fields: readonly Field[], texts: Record<string, string>): Values {
  const known = fields.filter(({ name }) => Object.hasOwn(texts, name));
  return Object.fromEntries(known.map((field) => [field.name, typed(field, texts[field.name] ?? "")]));
}

/** What differs from the preset: only that is sent. */
export function overrides(values: Values, base: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => !same(value, base[name])));
}

/** Whether two values are the same; lists are, where their items are. */
export function same(a: Value | undefined, b: Value | undefined): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return Object.is(a, b);
  return a.length === b.length && a.every((item, i) => same(item, b[i]));
}

/** What was typed as a value; NaN where it isn't one of the field's kind. */
export function typed(field: Field, text: string): Value {
  const { kind, optional } = field;
  if (kind === "choice" || kind === "text" || kind === "heads") return text === "" && optional ? null : text;
  if (kind === "flag") return text === "true";
  if (kind === "texts") return lines(text).length === 0 && optional ? null : lines(text);
  if (field.words.includes(text.trim())) return text.trim();
  if (text.trim() === "") return optional ? null : kind === "numbers" ? [] : Number.NaN;
  if (kind === "numbers") {
    return text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map(Number);
  }
  return kind === "json" ? parsed(text) : Number(text);
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function parsed(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return Number.NaN;
  }
}

/** A value as it would be typed. */
export function textOf(value: Value): string {
  if (value === null || Number.isNaN(value)) return "";
  if (!Array.isArray(value)) return String(value);
  if (value.every((item) => typeof item === "string")) return value.join("\n");
  if (value.every((item) => typeof item === "number" && !Number.isNaN(item))) return value.join(", ");
  return value.some((item) => typeof item === "number") ? "" : JSON.stringify(value);
}
