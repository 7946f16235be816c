import { useMemo } from "react";
import type { Figure, MapWords, RoleRanges } from "../../api/types";
import { percent } from "../../format/numbers";
import { capital, type Gates, shares } from "../../plot/roles";
import { shareInterval } from "../../results/headline";

/** Seeds below which what holds in all of them is said of few. */
const FEW_SEEDS = 5;

type Interval = RoleRanges["needed"]["any"] | undefined;

interface RoleShareCardsProps {
  gates: Gates | undefined;
  threshold: number;
  /** The figure of shares against seeds, whose `meta` has the intervals at its threshold. */
  seeds: Figure | undefined;
  words: MapWords;
}

/** Always and Any in four numbers at the current threshold, each with what 95 % of such sets of seeds would give. */
export function RoleShareCards({ gates, threshold, seeds, words }: RoleShareCardsProps) {
  const all = useMemo(() => gates && shares(gates, threshold), [gates, threshold]);
  const meta = seeds?.layout.meta;
  // While the slider moves, those of another threshold would mislead.
  const intervals = meta?.threshold === threshold ? meta.intervals : undefined;
  const [needed = "", harmful = ""] = [words.roles[1], words.roles[2]];
  const [facilitating, interfering] = [words.terms[1], words.terms[2]];
  const cards = [
    [`Always ${needed}`, "needed", "always", `Share of heads, in every seed: ${needed} (${facilitating})`],
    [
      `${capital(needed)} in some seed`,
      "needed",
      "any",
      `Share of heads, in at least one seed: ${needed} (${facilitating})`,
    ],
    [`Always ${harmful}`, "harmful", "always", `Share of heads, in every seed: ${harmful} (${interfering})`],
    [
      `${capital(harmful)} in some seed`,
      "harmful",
      "any",
      `Share of heads, in at least one seed: ${harmful} (${interfering})`,
    ],
  ] as const;
  return (
    <dl className="number-cards">
      {cards.map(([label, role, part, title]) => (
        <div className="card number-card" key={label} title={title}>
          <dt>{label}</dt>
          <dd>{all ? percent(all[role][part]) : <span className="skeleton text" />}</dd>
          {gates && <dd className="interval">{spread(gates.seeds, intervals?.[role][part])}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** "8.5–15.2 %": where 95 % of sets of so many seeds fall. */
function spread(seeds: number, interval: Interval): string {
  if (seeds === 1) return "one seed: no spread known";
  if (!interval) return "…";
  const few = seeds < FEW_SEEDS ? ` · only ${seeds} seeds` : "";
  return `${shareInterval(...interval)}${few}`;
}
