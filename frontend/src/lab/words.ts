// What the lab says in words: heads, tokens and BOS, for readouts and screen readers.
import type { Bos } from "../api/labTypes";
import type { Token } from "../api/types";
import { measured } from "../format/numbers";
import { written } from "../tokens/visible";
import type { Head } from "../url/heads";
import { gateWords, indexOf } from "./state/gates";
import { columnsOf, type Look } from "./state/look";

/** A head's score: three figures, but what is next to nothing as such. */
export function scoreText(value: number | undefined): string {
  return value !== undefined && Math.abs(value) < 0.001 ? "<\u202f0.001" : measured(value);
}

/** "Layer 17 · head 4: induction 0.54, previous token 0.02, …, muted". */
export function headInWords(look: Look, head: Head, gate: number): string {
  const at = indexOf(look, head);
  const scores = columnsOf(look)
    .filter(({ title }) => !title.endsWith(", weight"))
    .map(
      ({ title, unit, values }) => `${title.toLowerCase()} ${scoreText(values[at])}${unit ? ` ${unit}` : ""}`,
    );
  const open = gate >= 1 ? "" : ` · ${gateWords(gate)}`;
  return `Layer ${head.layer} · head ${head.head}: ${scores.join(", ")}${open}`;
}

/** A token as a reader sees it: "·dragon", "↵", "日 2/3". */
export function tokenInWords(token: Token | undefined): string {
  return token ? written(token) : "nothing";
}

export function bosInWords(bos: Bos): string {
  switch (bos) {
    case "none":
      return "no BOS token";
    case "added":
      return "BOS token added";
    case "in-text":
      return "the text spells the BOS token’s name, read as plain characters";
    case "doubled":
      return "BOS token added, and the text spells its name once more";
  }
}
