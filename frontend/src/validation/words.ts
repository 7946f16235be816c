// Validation's figures in words.
import type { Replication, ValidationCell } from "../api/types";
import { percent } from "../format/numbers";

type Found = ValidationCell["found"][string];

/** A mean with its interval, "0.997 [0.98, 1.00]"; a dash where no draw has a value. */
export function area(found: Found | undefined): string {
  const { mean, low, high } = found?.auroc ?? {};
  if (mean == null || low == null || high == null) return "–";
  return `${mean.toFixed(3)} [${low.toFixed(2)}, ${high.toFixed(2)}]`;
}

/** Precision / recall by the strict rule, "1 / 0.75". */
export function strict(found: Found | undefined): string {
  if (found?.auroc.mean == null) return "";
  return [found.precision.mean, found.recall.mean].map(share).join(" / ");
}

/** How many draws count, "18 of 20" where some are not what was planted. */
export function counted({ draws, counted }: Pick<ValidationCell, "draws" | "counted">): string {
  return draws === counted ? String(draws) : `${counted} of ${draws}`;
}

/** "29 of 30, 97 %"; a dash where no head's role replicates. */
export function came({ called, again, kept }: Replication["roles"][number]): string {
  return kept === null ? "–" : `${again} of ${called}, ${percent(kept)}`;
}

/** A correlation to two digits; a dash where there is none. */
export function correlation(value: number | null): string {
  return value === null ? "–" : value.toFixed(2).replace("-", "−");
}

function share(value: number | null): string {
  return value === null ? "–" : String(Number(value.toPrecision(3)));
}
