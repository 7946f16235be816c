// A run's few numbers in words: the same for every analysis.
import type { Run } from "../api/types";
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

/** "mean_loss" as a person writes it: "Mean loss". */
export function worded(name: string): string {
  const words = name.replaceAll("_", " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function textOf(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? count(value) : measured(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length > 0 ? value.map(textOf).join(", ") : "none";
  return value === null || value === undefined || value === "" ? NOTHING : String(value);
}

/** Shares of one by their names: they read as percent. What is kept may be more than there was. */
const SHARE = /^(?!.*log).*(accuracy|probability|chance|keeps|share)/;
const BEYOND = /keeps/;

function worth(name: string, value: unknown): string {
  const isShare =
    typeof value === "number" && value >= 0 && (value <= 1 || BEYOND.test(name)) && SHARE.test(name);
  return isShare ? percent(value) : textOf(value);
}

function headsOf(value: unknown): Head[] {
  const parts = Array.isArray(value) ? value : typeof value === "string" ? value.split(/\s*[,→]\s*/) : [];
  const heads = parts.map((part) => (typeof part === "string" ? parseHead(part.trim()) : null));
  return heads.every((head) => head !== null) ? heads : [];
}

/** What stands in `headline`. */
export function factsOf(run: Pick<Run, "headline">): Fact[] {
  return Object.entries(run.headline ?? {})
    .filter(([, value]) => typeof value !== "object" || Array.isArray(value) || value === null)
    .map(([name, value]) => ({
      name,
      label: worded(name),
      text: worth(name, value),
      heads: headsOf(value),
      between: String(value).includes("→") ? "→" : "",
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
