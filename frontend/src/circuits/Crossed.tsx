import { useState } from "react";
import { type CrossedOut, type CrossedPairs, crossed, type HeadAsk, type Trigram } from "../api/circuits";
import { type ApiError, asApiError } from "../api/errors";
import type { Token } from "../api/types";
import { measured } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { TokenView } from "../tokens/TokenText";
import { TokenPicker } from "./TokenPicker";

/** The five tokens of two skip trigrams of one source, as they are chosen. */
const SLOTS = [
  { label: "Source", hint: "the token looked back at: keep" },
  { label: "Here", hint: "the first present token: in" },
  { label: "Next", hint: "what should follow: mind" },
  { label: "Here", hint: "the second present token: at" },
  { label: "Next", hint: "what should follow: bay" },
] as const;

/** Skip trigrams that the head can't keep apart: found by themselves, or two of the reader's own. */
export function Crossed({ ask }: { ask: HeadAsk }) {
  const [answer, setAnswer] = useState<CrossedOut>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [chosen, setChosen] = useState<(Token | null)[]>(SLOTS.map(() => null));
  const send = async (more: { source?: number; pairs?: [number, number][] }) => {
    setBusy(true);
    setError(undefined);
    try {
      setAnswer(await crossed({ ...ask, ...more }));
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  const [source, here, next, hereToo, nextToo] = chosen;
  const own = source && here && next && hereToo && nextToo;
  return (
    <section className="card crossed" aria-label="Crossed pairs">
      <h3>Skip-trigram bugs</h3>
      <p className="caption">
        A head chooses where to look (QK) and what to write (OV) independently, so it can’t keep some skip
        trigrams apart. One that raises “keep … in mind” and “keep … at bay” must raise “keep … in bay” and
        “keep … at mind” too.
      </p>
      <div className="card-actions">
        <button type="button" className="button" disabled={busy} onClick={() => void send({})}>
          {busy ? "Looking…" : "Find the worst pairs"}
        </button>
      </div>
      <details>
        <summary>Try your own pairs</summary>
        <div className="slots">
          {SLOTS.map(({ label, hint }, i) => (
            <div key={hint}>
              <TokenPicker
                model={ask.model}
                label={`${label} (${hint})`}
                onPick={(token) => setChosen(chosen.map((one, j) => (j === i ? token : one)))}
              />
              {chosen[i] && <TokenView token={chosen[i]} />}
            </div>
          ))}
        </div>
        <button
          type="button"
          className="button"
          disabled={busy || !own}
          onClick={() =>
            own &&
            void send({
              source: source.id,
              pairs: [
                [here.id, next.id],
                [hereToo.id, nextToo.id],
              ],
            })
          }
        >
          Compute
        </button>
      </details>
      {error && <ProblemNote error={error} />}
      {answer && (
        <div aria-live="polite">
          {answer.found.length === 0 && (
            <p className="muted">No two skip trigrams of this head have strong crosses.</p>
          )}
          {answer.found.map((pairs, i) => (
            <Pairs key={i} pairs={pairs} />
          ))}
        </div>
      )}
    </section>
  );
}

function Pairs({ pairs }: { pairs: CrossedPairs }) {
  const line = (trigram: Trigram, kind: string) => (
    <tr key={`${kind} ${trigram.destination.id} ${trigram.output.id}`} className={kind}>
      <th scope="row">{kind}</th>
      <td className="words">
        <TokenView token={pairs.source} /> … <TokenView token={trigram.destination} /> →{" "}
        <TokenView token={trigram.output} />
      </td>
      <td>{measured(trigram.q)}</td>
      <td>{measured(trigram.o)}</td>
      <td>{measured(trigram.score)}</td>
    </tr>
  );
  return (
    <table className="table crossed-table">
      <thead>
        <tr>
          <th scope="col">pair</th>
          <th scope="col">skip trigram</th>
          <th scope="col">looks (QK)</th>
          <th scope="col">writes (OV)</th>
          <th scope="col">score</th>
        </tr>
      </thead>
      <tbody>
        {pairs.intended.map((trigram) => line(trigram, "meant"))}
        {pairs.crossed.map((trigram) => line(trigram, "crossed"))}
      </tbody>
    </table>
  );
}
