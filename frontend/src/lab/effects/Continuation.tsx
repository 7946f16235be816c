import { useEffect, useMemo, useState } from "react";
import { labApi } from "../../api/lab";
import type { ContinueOut } from "../../api/labTypes";
import type { Token } from "../../api/types";
import { ProblemNote } from "../../parts/ProblemNote";
import { Segmented } from "../../parts/Segmented";
import { TokenText } from "../../tokens/TokenText";
import { gatesInWords } from "../board/board";
import { changed, toRows } from "../state/gates";
import { useLab } from "../state/useLab";
import { useLatest } from "../state/useLatest";
import { Late } from "./Late";

type Question = Parameters<typeof labApi.continue>[0];

interface Manner {
  n: number;
  sampled: boolean;
  temperature: number;
  seed: number;
}

const AT_FIRST: Manner = { n: 20, sampled: false, temperature: 0.8, seed: 0 };

function useQuestion({ n, sampled, temperature, seed }: Manner): Question | null {
  const { ask, gates, sizes, view } = useLab();
  return useMemo(
    () =>
      ask && sizes
        ? {
            ...ask,
            gates: toRows(gates, sizes),
            n_tokens: n,
            temperature: sampled ? temperature : 0,
            seed,
            ...view.closed,
          }
        : null,
    [ask, gates, sizes, view.closed, n, sampled, temperature, seed],
  );
}

/** What the model writes on, as it is and under the gates, one below the other. */
export function Continuation() {
  const { ask, gates } = useLab();
  const [manner, setManner] = useState(AT_FIRST);
  const [follow, setFollow] = useState(false);
  const line = useLatest<Question, ContinueOut>(JSON.stringify(ask), labApi.continue);
  const question = useQuestion(manner);
  const { want } = line;
  // Only where the reader asked for it: a continuation takes as many passes as it has tokens.
  useEffect(() => {
    if (follow && question) want(question);
  }, [follow, question, want]);
  const outdated = line.data !== undefined && line.input !== question;
  const anyChanged = changed(gates).length > 0;

  return (
    <section className="card continuation" aria-labelledby="continuation-heading">
      <h2 id="continuation-heading">Continuation</h2>
      <MannerForm manner={manner} onManner={setManner} />
      <div className="board-tools">
        <button
          type="button"
          className="button"
          disabled={!question}
          onClick={() => question && want(question)}
        >
          {outdated ? "Generate again" : "Generate"}
        </button>
        <label className="tick">
          <input type="checkbox" checked={follow} onChange={(event) => setFollow(event.target.checked)} />
          on every change
        </label>
      </div>
      {line.error && <ProblemNote error={line.error} retry={question ? () => want(question) : undefined} />}
      {line.data && (
        <Late busy={line.busy}>
          <Written kind="before" name="ungated" tokens={line.data.before} />
          {(anyChanged || outdated) && (
            <Written
              kind="after"
              name={outdated ? "earlier gates" : gatesInWords(gates)}
              tokens={line.data.after}
            />
          )}
          {line.data.note && <p className="muted small">{line.data.note}</p>}
        </Late>
      )}
      {!line.data && line.busy && <div className="skeleton text" role="status" aria-label="Generating" />}
    </section>
  );
}

interface WrittenProps {
  kind: "before" | "after";
  name: string;
  tokens: readonly Token[];
}

function Written({ kind, name, tokens }: WrittenProps) {
  return (
    <div className="written">
      <span className={`chip ${kind}`}>{name}</span>
      {tokens.length > 0 ? (
        <TokenText tokens={tokens} />
      ) : (
        <p className="muted small">nothing: the model ends the text here</p>
      )}
    </div>
  );
}

function MannerForm({ manner, onManner }: { manner: Manner; onManner: (next: Manner) => void }) {
  const number = (name: "n" | "temperature" | "seed", least: number, most: number, step: number) => ({
    type: "number",
    min: least,
    max: most,
    step,
    value: manner[name],
    onChange: (event: { target: HTMLInputElement }) => {
      const value = Number(event.target.value);
      if (event.target.value !== "" && value >= least && value <= most)
        onManner({ ...manner, [name]: value });
    },
  });
  return (
    <div className="manner">
      <Segmented
        label="How the next token is picked"
        value={manner.sampled ? "sampled" : "greedy"}
        options={[
          { value: "greedy", text: "greedy", hint: "Always the most likely token" },
          { value: "sampled", text: "sampled", hint: "Drawn from the model’s probabilities" },
        ]}
        onChange={(value) => onManner({ ...manner, sampled: value === "sampled" })}
      />
      <label className="field">
        tokens
        <input {...number("n", 1, 100, 1)} />
      </label>
      {manner.sampled && (
        <>
          <label className="field">
            temperature
            <input {...number("temperature", 0.05, 5, 0.05)} />
          </label>
          <label className="field">
            seed
            <input {...number("seed", 0, 2 ** 31 - 1, 1)} />
          </label>
        </>
      )}
    </div>
  );
}
