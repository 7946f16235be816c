import { type Ref, useMemo } from "react";
import type { Loaded } from "../../api/query";
import { measured } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { type Head, headName } from "../../url/heads";
import { MOST_LOCKED } from "../../url/lab";
import type { Pattern } from "../pattern/triangle";
import { indexOf, toggled } from "../state/gates";
import { type Above, columnsOf, type Look, scoreOf, sharing } from "../state/look";
import { useLab } from "../state/useLab";
import { scoreText } from "../words";
import { HeadEffect } from "./HeadEffect";
import { HeadPattern } from "./HeadPattern";

interface HeadLargeProps {
  ref: Ref<HTMLElement>;
  look: Look;
  pattern: Loaded<Pattern | null>;
}

/** The selected head: its pattern large, its scores, and what the repeats lose without it. */
export function HeadLarge({ ref, look, pattern }: HeadLargeProps) {
  const { head, view } = useLab();
  return (
    <section ref={ref} className="card head-large" tabIndex={-1} aria-label="Selected head">
      {head ? (
        <Chosen look={look} pattern={pattern} head={head} />
      ) : (
        <>
          <h2>{view.head ? `There is no head ${headName(view.head)}` : "No head selected"}</h2>
          <p className="muted">
            {view.head && `Layers run 0–${look.layers - 1}, heads 0–${look.heads - 1}. `}
            Select one above to see its pattern enlarged. Point at a token to see where the head looks from
            it, and which tokens look at it.
          </p>
        </>
      )}
    </section>
  );
}

function Chosen({ look, pattern, head }: { look: Look; pattern: Loaded<Pattern | null>; head: Head }) {
  const { view, move, gates, setGates, select, readOnly } = useLab();
  const at = indexOf(look, head);
  const n = look.tokens.length;
  const locked = useMemo(() => view.locked.filter((token) => token < n), [view.locked, n]);
  const lock = (token: number) => {
    const next = locked.includes(token) ? locked.filter((one) => one !== token) : [...locked, token];
    move({ locked: next.slice(-MOST_LOCKED).sort((a, b) => a - b) }, { replace: true });
  };
  const muted = gates[at] === 0;
  return (
    <>
      <header className="head-title">
        <h2>
          Layer {head.layer} · head {head.head}
        </h2>
        <span className="head-buttons">
          {!readOnly && (
            <button
              type="button"
              className="button"
              aria-pressed={muted}
              onClick={() => setGates(toggled(gates, [at]))}
            >
              {muted ? "Open it again" : "Mute"}
            </button>
          )}
          <button
            type="button"
            className="button quiet icon"
            aria-label="Deselect the head"
            onClick={() => select(null)}
          >
            ×
          </button>
        </span>
      </header>
      <p className="muted">{stripeInWords(look, at)}</p>
      {pattern.error && <ProblemNote error={pattern.error} retry={pattern.refetch} />}
      <div className="head-body">
        <HeadPattern
          look={look}
          at={at}
          name={headName(head)}
          pattern={pattern.data ?? null}
          sink={view.sink}
          locked={locked}
          onLock={lock}
        />
        <div className="head-numbers">
          <dl className="facts-list">
            {columnsOf(look).map(({ name, title, reading, unit, values }) => (
              <div key={name} title={reading}>
                <dt>{title}</dt>
                <dd>
                  {scoreText(values[at])}
                  {unit && <span className="unit"> {unit}</span>}
                </dd>
              </div>
            ))}
          </dl>
          <Sharing look={look} head={head} />
          <HeadEffect head={head} />
        </div>
      </div>
    </>
  );
}

const STRIPES: Record<string, string> = {
  clear: "A clear induction stripe",
  faint: "A faint induction stripe",
  none: "No induction stripe",
};

/** The head's induction stripe, in a sentence. */
export function stripeInWords(look: Look, at: number): string {
  const above = look.above.get("induction");
  if (!above) return weightInWords(look, at);
  const stripe = STRIPES[above.claims[at] ?? ""];
  if (!stripe) return tooFewToTell(above, at);
  const { values, low, high, queries } = above;
  const interval = `${measured(low[at])} to ${measured(high[at])}`;
  return `${stripe}: ${queries} repeated tokens give the token that came after an earlier copy ${measured(values[at])} more of this head’s attention than other tokens give it (95 %: ${interval}).`;
}

function tooFewToTell({ queries, values, repeats }: Above, at: number): string {
  const tokens = queries === 1 ? "one repeated token gives" : `${queries} repeated tokens give`;
  const here =
    queries === 0
      ? "Too few repeats to tell: no token repeats far enough apart on this prompt."
      : `Too few repeats to tell: ${tokens} the token that came after an earlier copy ${measured(values[at])} more of this head’s attention than other tokens give it.`;
  return repeats ? `${here} On random tokens that repeat it is ${measured(repeats[at])}.` : here;
}

/** Of a view that was shared before columns were told from stripes. */
function weightInWords(look: Look, at: number): string {
  const value = scoreOf(look, "induction")?.values[at] ?? Number.NaN;
  const repeats = look.copies.filter((earlier) => earlier.length > 0).length;
  if (Number.isNaN(value)) return "No token repeats far enough apart for an induction stripe on this prompt.";
  return `On the ${repeats} repeated tokens it puts ${measured(value)} of its attention, on average, on the token that came after the earlier copy; what other tokens give it isn’t known.`;
}

function Sharing({ look, head }: { look: Look; head: Head }) {
  const others = sharing(look, head).filter((one) => one.head !== head.head);
  if (others.length === 0) return null;
  return <p className="muted small">Shares its keys and values with {others.map(headName).join(", ")}.</p>;
}
