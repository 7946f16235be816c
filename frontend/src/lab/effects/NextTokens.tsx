import type { CSSProperties } from "react";
import type { GatesOut, NextToken } from "../../api/labTypes";
import { number, percent, percentChange } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { TokenView } from "../../tokens/TokenText";
import { written } from "../../tokens/visible";
import { gatesInWords } from "../board/board";
import { changed } from "../state/gates";
import { useLab } from "../state/useLab";
import { Answers } from "./Answers";
import { Late } from "./Late";

const SHOWN = 8;

/** What the model would write next, as it is and under the gates; moves with the hand. */
export function NextTokens() {
  const { gated, ask } = useLab();
  return (
    <section className="card next-tokens" aria-labelledby="next-heading">
      <h2 id="next-heading">Next token</h2>
      {gated.error && <ProblemNote error={gated.error} retry={gated.reload} />}
      {gated.data ? (
        <Late busy={gated.busy || gated.error !== null}>
          <Where out={gated.data} />
          <Bars out={gated.data} />
          <Divergence out={gated.data} />
          <Answers out={gated.data} />
        </Late>
      ) : (
        !gated.error &&
        ask && <div className="skeleton next-skeleton" role="status" aria-label="Loading the next tokens" />
      )}
    </section>
  );
}

/** Which position is read, and the way back to the last. */
function Where({ out }: { out: GatesOut }) {
  const { at, move } = useLab();
  const last = out.tokens.length - 1;
  const token = out.tokens[out.at];
  const real = out.tokens[out.at + 1];
  const [before, after] = [out.loss_before[out.at + 1], out.loss_after[out.at + 1]];
  if (at === null || out.at === last || !token) return null;
  return (
    <p className="small next-where">
      After token {out.at} <TokenView token={token} />
      {real && (
        <>
          {" "}
          the text has <TokenView token={real} />: {percentChange(exp(before), exp(after))}{" "}
        </>
      )}
      <button type="button" className="link-button" onClick={() => move({ at: null })}>
        read at the last token
      </button>
    </p>
  );
}

function exp(loss: number | null | undefined): number | null {
  return typeof loss === "number" ? Math.exp(-loss) : null;
}

function Bars({ out }: { out: GatesOut }) {
  const { gates, view, move, readOnly } = useLab();
  const rows = out.next.slice(0, SHOWN);
  const most = Math.max(...rows.map(({ before, after }) => Math.max(before, after)), 1e-9);
  const gated = changed(gates).length > 0;
  const follow = (id: number) =>
    move({ answers: [...view.answers.filter((other) => other !== id), id].slice(-2) });
  return (
    <>
      <p className="legend small" aria-hidden="true">
        <i className="swatch before" /> ungated{" "}
        {gated && (
          <>
            <i className="swatch after" /> {gatesInWords(gates)}
          </>
        )}
      </p>
      <ol className="next-list" aria-label="Most likely next tokens, before and after">
        {rows.map((row) => (
          <Bar
            key={row.token.id}
            row={row}
            most={most}
            gated={gated}
            followed={view.answers.includes(row.token.id)}
            onFollow={readOnly ? undefined : () => follow(row.token.id)}
          />
        ))}
      </ol>
    </>
  );
}

interface BarProps {
  row: NextToken;
  most: number;
  /** There are two to compare. */
  gated: boolean;
  followed: boolean;
  onFollow: (() => void) | undefined;
}

function Bar({ row, most, gated, followed, onFollow }: BarProps) {
  const { token, before, after } = row;
  const width = (value: number) => ({ "--size": `${(100 * value) / most}%` }) as CSSProperties;
  return (
    <li className={followed ? "next-row followed" : "next-row"}>
      {onFollow ? (
        <button
          type="button"
          className="next-token"
          title="Follow this token: its log-probability, rank and attribution"
          aria-label={`Follow ${written(token)}`}
          aria-pressed={followed}
          onClick={onFollow}
        >
          <TokenView token={token} />
        </button>
      ) : (
        <span className="next-token">
          <TokenView token={token} />
        </span>
      )}
      <span className="next-bars" aria-hidden="true">
        <i className="before" style={width(before)} />
        {gated && <i className="after" style={width(after)} />}
      </span>
      <span className="next-percent">{gated ? percentChange(before, after) : percent(before)}</span>
    </li>
  );
}

function Divergence({ out }: { out: GatesOut }) {
  return (
    <p
      className="small muted"
      title="Kullback-Leibler divergence of the gated model's next-token probabilities"
    >
      {out.kl < 5e-7 ? "KL 0 nats: nothing changes" : `KL(ungated ‖ gated) ${number(out.kl)} nats`}
    </p>
  );
}
