import { useEffect, useState } from "react";
import { labQueries } from "../../api/lab";
import type { HeadAblationOut } from "../../api/labTypes";
import { useWorkerQuery } from "../../api/query";
import { number } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { type Head, headName } from "../../url/heads";
import { useLab } from "../state/useLab";

/** Arrow keys pass over heads faster than each is worth three passes of the model. */
const RESTS = 350;

function useSettled<T>(value: T): T | null {
  const [settled, setSettled] = useState<T | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), RESTS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled === value ? settled : null;
}

/** What the repeats lose without this head: with every later pattern held, and with later heads free to answer. */
export function HeadEffect({ head }: { head: Head }) {
  const { ask, view, readOnly } = useLab();
  const { fold } = view;
  const question = ask && !readOnly ? { ...ask, ...head, fold } : null;
  const wanted = question && JSON.stringify(question);
  const rests = useSettled(wanted) === wanted;
  const effect = useWorkerQuery({
    ...labQueries.ablation(question ?? { model: "", ...head }),
    enabled: question !== null && rests,
  });
  if (readOnly) return null;
  if (effect.error) return <ProblemNote error={effect.error} retry={effect.refetch} />;
  return (
    <section
      className="head-effect"
      aria-label="Without this head"
      aria-live="polite"
      aria-busy={!effect.data}
    >
      {effect.data ? (
        <Effect effect={effect.data} name={headName(head)} />
      ) : (
        <div className="skeleton text" />
      )}
    </section>
  );
}

function Effect({ effect, name }: { effect: HeadAblationOut; name: string }) {
  const [before, frozen, free] = effect.loss_repeat;
  if (before === null || before === undefined || frozen === undefined || free === undefined) {
    return (
      <p className="muted">
        No sequence of tokens repeats here, so there is nothing for induction to predict.
      </p>
    );
  }
  const row = (label: string, title: string, value: number | null) => (
    <div title={title}>
      <dt>{label}</dt>
      <dd>
        {number(before)} → <b>{number(value)}</b> nats
        {value !== null && (
          <span className="muted">
            {" "}
            ({value >= before ? "+" : ""}
            {number(value - before)})
          </span>
        )}
      </dd>
    </div>
  );
  return (
    <>
      <h3>Loss on repeats with {name} ablated</h3>
      <dl className="facts-list">
        {row(
          "Other patterns frozen",
          "Only what the head itself writes is removed; later heads attend as before",
          frozen,
        )}
        {row(
          "Later heads free to respond",
          "Later heads may attend elsewhere, and make it worse or compensate",
          free,
        )}
      </dl>
    </>
  );
}
