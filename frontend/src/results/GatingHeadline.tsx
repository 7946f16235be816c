import type { Run } from "../api/types";
import { percent, share } from "../format/numbers";

function headlineNumber(headline: Run["headline"], name: string): number | null {
  const value = headline?.[name];
  return typeof value === "number" ? value : null;
}

/** Two thin bars: what is always so, within what is so in some seed. */
export function GatingHeadline({ headline }: { headline: Run["headline"] }) {
  const bar = (role: "needed" | "harmful") => {
    const always = headlineNumber(headline, `always_${role}`);
    const any = headlineNumber(headline, `any_${role}`);
    if (always === null || any === null) return null;
    return (
      <span
        className={`mini-bar ${role}`}
        title={`${role}: ${percent(always)} of heads always, ${percent(any)} in some seed`}
      >
        <i className="any" style={{ width: `${any * 100}%` }} />
        <i className="always" style={{ width: `${always * 100}%` }} />
        <span className="visually-hidden">
          {role}: {percent(always)} of heads always, {percent(any)} in some seed
        </span>
      </span>
    );
  };
  const [before, after] = [
    headlineNumber(headline, "accuracy_ungated"),
    headlineNumber(headline, "accuracy_plus"),
  ];
  return (
    <span className="headline">
      {bar("needed")}
      {bar("harmful")}
      {before !== null && after !== null && (
        <span className="muted small" title="Held-out accuracy, ungated → with harmful heads ablated">
          accuracy {share(before)} → {share(after)}
        </span>
      )}
    </span>
  );
}
