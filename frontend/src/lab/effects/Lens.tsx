import { useEffect, useMemo, useState } from "react";
import { labApi } from "../../api/lab";
import type { LensOut } from "../../api/labTypes";
import { count, percent } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { TokenView } from "../../tokens/TokenText";
import { useLab } from "../state/useLab";
import { useLatest } from "../state/useLatest";
import { useTargeted } from "./Attribution";
import { Late } from "./Late";

type Question = Parameters<typeof labApi.lens>[0];

/** What the model would say after each layer. */
export function Lens() {
  const [open, setOpen] = useState(false);
  return (
    <section className="card lens" aria-labelledby="lens-heading">
      <header className="picture-head">
        <h2 id="lens-heading">Logit lens</h2>
        <button type="button" className="button quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide" : "Show"}
        </button>
      </header>
      {open ? (
        <Shown />
      ) : (
        <p className="muted small">What the model would predict if it stopped after each layer.</p>
      )}
    </section>
  );
}

function Shown() {
  const { ask: prompt, at, view } = useLab();
  const { ask, gated } = useTargeted();
  const line = useLatest<Question, LensOut>(JSON.stringify([prompt, at, view.answers[0]]), labApi.lens);
  const { want } = line;
  const question = useMemo(() => ask && withoutAgainst(ask), [ask]);
  useEffect(() => {
    if (question) want(question);
  }, [question, want]);
  const problem = line.error && (
    <ProblemNote error={line.error} retry={question ? () => want(question) : undefined} />
  );
  if (!line.data)
    return (
      problem ?? <div className="skeleton next-skeleton" role="status" aria-label="Loading the layers" />
    );
  const out = line.data;
  return (
    <Late busy={line.busy}>
      {problem}
      <p className="small">
        After token {out.at}
        {gated && ", under the current gates"}; following <TokenView token={out.token} />.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="table-box lens-box" tabIndex={0} aria-label="Logit lens">
        <table className="table lens-table">
          <thead>
            <tr>
              <th scope="col">layers</th>
              <th scope="col" className="words">
                likeliest
              </th>
              <th scope="col" colSpan={2}>
                followed
              </th>
              <th scope="col" title="1 is the most likely token">
                rank
              </th>
            </tr>
          </thead>
          <tbody>
            {out.layers.map((row) => (
              <LensRow key={row.layers} row={row} />
            ))}
          </tbody>
        </table>
      </section>
    </Late>
  );
}

/** The lens follows one token. */
function withoutAgainst({
  against: _,
  ...question
}: ReturnType<typeof useTargeted>["ask"] & object): Question {
  return question;
}

function LensRow({ row }: { row: LensOut["layers"][number] }) {
  const [top] = row.top;
  const followed = Math.exp(row.log_probability);
  return (
    <tr>
      <th scope="row">{row.layers}</th>
      <td className="words">
        {top && <TokenView token={top} />} <span className="muted">{percent(row.top_probability[0])}</span>
      </td>
      <td className="lens-bar" aria-hidden="true">
        <i style={{ width: `${100 * followed}%` }} />
      </td>
      <td>{percent(followed)}</td>
      <td>{count(row.rank + 1)}</td>
    </tr>
  );
}
