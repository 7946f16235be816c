import { useMemo } from "react";
import { percent } from "../format/numbers";
import { type Gates, shares } from "../plot/roles";

/** Always and Any in four numbers, at the threshold in hand. */
export function ShareCards({ gates, threshold }: { gates: Gates | undefined; threshold: number }) {
  const all = useMemo(() => gates && shares(gates, threshold), [gates, threshold]);
  const cards: [string, number | undefined, string][] = [
    ["Always needed", all?.needed.always, "Share of heads that are needed (facilitating) in every seed"],
    [
      "Needed in some seed",
      all?.needed.any,
      "Share of heads that are needed (facilitating) in at least one seed",
    ],
    ["Always harmful", all?.harmful.always, "Share of heads that are harmful (interfering) in every seed"],
    [
      "Harmful in some seed",
      all?.harmful.any,
      "Share of heads that are harmful (interfering) in at least one seed",
    ],
  ];
  return (
    <dl className="number-cards">
      {cards.map(([label, value, title]) => (
        <div className="card number-card" key={label} title={title}>
          <dt>{label}</dt>
          <dd>{all ? percent(value) : <span className="skeleton text" />}</dd>
        </div>
      ))}
    </dl>
  );
}
