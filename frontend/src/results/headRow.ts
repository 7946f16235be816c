// What a table of heads says of one head.
import type { Table } from "../api/types";
import { count, measured, NOTHING } from "../format/numbers";
import type { Head } from "../url/view";

const PLACES = new Set(["layer", "head", "kv_group"]);

/** The head's row: title and text, with its unit, of every column beyond where the head is. */
export function rowOf(table: Table, { layer, head }: Head): { title: string; text: string }[] {
  const at = (name: string) => table.columns.findIndex((column) => column.name === name);
  const [layerAt, headAt] = [at("layer"), at("head")];
  if (layerAt < 0 || headAt < 0) return [];
  const row = table.rows.find((one) => one[layerAt] === layer && one[headAt] === head);
  if (!row) return [];
  return table.columns.flatMap(({ name, title, unit }, i) => {
    if (PLACES.has(name)) return [];
    const value: unknown = row[i];
    const text =
      typeof value === "number"
        ? `${Number.isInteger(value) ? count(value) : measured(value)}${unit ? ` ${unit}` : ""}`
        : value === null || value === undefined
          ? NOTHING
          : String(value);
    return [{ title, text }];
  });
}
