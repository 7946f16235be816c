import type { Run } from "../api/types";
import { percent, plural, share } from "../format/numbers";
import { headlineNumber, isSteering, shareInterval } from "./headline";

/** Fits below which what holds in all of them is said of few. */
const FEW_FITS = 5;

/** What a headline calls its heads: those of a steering map aren't named by roles. */
const SHARES = [
  { role: "needed", names: ["needed", "lifts_open"], words: ["needed", "lifts when open"] },
  { role: "harmful", names: ["harmful", "lifts_shut"], words: ["harmful", "lifts when shut"] },
] as const;

/** Two thin bars: what is always so, within what is so in some seed; and how the model does as it is. */
export function GatingHeadline({ headline }: { headline: Run["headline"] }) {
  const steering = isSteering(headline);
  const fits = headlineNumber(headline, "fits");
  const few = fits !== null && fits < FEW_FITS ? `; only ${plural(fits, "fit")}` : "";
  const bars = SHARES.map(({ role, names, words }) => {
    const [name, word] = [names[steering ? 1 : 0], words[steering ? 1 : 0]];
    const always = headlineNumber(headline, `always_${name}`);
    const any = headlineNumber(headline, `any_${name}`);
    if (always === null || any === null) return null;
    const ends = (part: string) => {
      const low = headlineNumber(headline, `low_${part}_${name}`);
      const high = headlineNumber(headline, `high_${part}_${name}`);
      return low === null || high === null ? "" : ` (${shareInterval(low, high)})`;
    };
    const told = `${word}: ${percent(always)} of heads always${ends("always")}, ${percent(any)} in some seed${ends("any")}${few}`;
    return (
      <span key={role} className={`mini-bar ${role}`} title={told}>
        <i className="any" style={{ width: `${any * 100}%` }} />
        <i className="always" style={{ width: `${always * 100}%` }} />
        <span className="visually-hidden">{told}</span>
      </span>
    );
  });
  const [before, after] = [
    headlineNumber(headline, "accuracy_ungated"),
    headlineNumber(headline, "accuracy_plus"),
  ];
  return (
    <span className="headline">
      {bars}
      {steering && (
        <span className="chip" title="The model can’t do the task as it is: no head of it has a role">
          steering map
        </span>
      )}
      {before !== null && after !== null && (
        <span
          className="muted small"
          title={`The model answers ${percent(before)} right as it is; ${percent(after)} ${
            steering ? "under the gates pushed open" : "with harmful heads ablated"
          }`}
        >
          accuracy {share(before)} → {share(after)}
        </span>
      )}
    </span>
  );
}
