// A run's few numbers in words: the same for every analysis.
import type { HeadlineValue, Run } from "../api/types";
import { count, measured, NOTHING, percent } from "../format/numbers";
import { type Head, parseHead } from "../url/view";

export interface Fact {
  name: string;
  /** "Strongest head" */
  label: string;
  text: string;
  /** The heads that the value names, in its order, and what stands between them. */
  heads: Head[];
  between: string;
}

/** Units that stand behind their number; the others are said by the number's form or by the label. */
const SPOKEN = new Set<HeadlineValue["unit"]>(["nats", "logits"]);
const NAMING = new Set<HeadlineValue["unit"]>(["head", "pair", "path"]);

function textOf(value: unknown, unit: HeadlineValue["unit"]): string {
  if (Array.isArray(value)) {
    return value.length > 0 ? value.map((one) => textOf(one, unit)).join(", ") : "none";
  }
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return value === null || value === "" ? NOTHING : String(value);
  if (unit === "share") return percent(value);
  const text = Number.isInteger(value) ? count(value) : measured(value);
  return SPOKEN.has(unit) ? `${text} ${unit}` : text;
}

/** "12.3 % (95 %: 8.1–15.2 %)". */
function withInterval({ value, unit, low, high }: HeadlineValue): string {
  const text = textOf(value, unit);
  if (typeof low !== "number" || typeof high !== "number") return text;
  return unit === "share"
    ? `${text} (${shareInterval(low, high)})`
    : `${text} (95 %: ${measured(low)} to ${measured(high)})`;
}

/** "95 %: 8.1–15.2 %". */
export function shareInterval(low: number, high: number): string {
  return `95 %: ${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)} %`;
}

/** The heads of "17.4", "0.3 → 1.5", "0.3 → mlp 1" or a list of heads, in their order. */
function headsOf({ value, unit }: HeadlineValue): Head[] {
  if (!NAMING.has(unit)) return [];
  const parts = [value].flat().flatMap((one) => String(one).split("→"));
  const heads = parts.map((part) => parseHead(part.trim()));
  return heads.every((head) => head !== null) ? heads : [];
}

export function factsOf({ headline_values: values }: Pick<Run, "headline_values">): Fact[] {
  return values.map((each) => ({
    name: each.name,
    label: each.label,
    text: withInterval(each),
    heads: headsOf(each),
    between: String(each.value).includes("→") ? "→" : "",
  }));
}

/** How a model's weights were handled, where the numbers depend on it: two ways are never compared. */
export function weightsOf(run: Pick<Run, "params">): string | null {
  const value = run.params.weights ?? run.params.weight_processing ?? run.params.processing;
  return typeof value === "string" ? value : null;
}

/** Settings that a reader must know to read the numbers. */
export function settingsOf(run: Pick<Run, "params">): string[] {
  const weights = weightsOf(run);
  return weights === null ? [] : [`weights ${weights}`];
}

/** A number of a headline by its name; null where it has none. */
export function headlineNumber(headline: Run["headline"], name: string): number | null {
  const value = headline?.[name];
  return typeof value === "number" ? value : null;
}

/** Whether a map's heads aren't named by roles, since the model can't do the task. */
export function isSteering(headline: Run["headline"]): boolean {
  return headlineNumber(headline, "always_lifts_open") !== null;
}
