import { type FormEvent, useId, useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { labApi } from "../../api/lab";
import type { Answer, GatesOut } from "../../api/labTypes";
import type { Token } from "../../api/types";
import { count, number } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { TokenView } from "../../tokens/TokenText";
import { written } from "../../tokens/visible";
import { useLab } from "../state/useLab";

/** The tokens that are followed: how likely, which rank, and of two the difference of their logits. */
export function Answers({ out }: { out: GatesOut }) {
  const { readOnly } = useLab();
  if (readOnly && out.answers.length === 0) return null;
  return (
    <div className="answers">
      {out.answers.length > 0 && <Followed out={out} />}
      {!readOnly && <Picker />}
    </div>
  );
}

function Followed({ out }: { out: GatesOut }) {
  const { logit_difference: difference } = out;
  return (
    <table className="table answers-table">
      <caption className="visually-hidden">Followed tokens, before and after</caption>
      <thead>
        <tr>
          <th scope="col" className="words">
            followed
          </th>
          <th scope="col" title="log-probability">
            log-p, nats
          </th>
          <th scope="col">rank</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {out.answers.map((answer) => (
          <FollowedRow key={answer.token.id} answer={answer} />
        ))}
        {difference && (
          <tr>
            <th scope="row" className="words">
              logit difference
            </th>
            <td colSpan={3}>
              {number(difference.before)} → {number(difference.after)} (
              {number(difference.after - difference.before)})
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function FollowedRow({ answer }: { answer: Answer }) {
  const { view, move, readOnly } = useLab();
  const { token, before, after, rank_before, rank_after } = answer;
  return (
    <tr>
      <th scope="row" className="words">
        <TokenView token={token} />
      </th>
      <td>
        {number(before)} → {number(after)}
      </td>
      <td title="1 is the most likely token">
        {count(rank_before + 1)} → {count(rank_after + 1)}
      </td>
      <td>
        {!readOnly && (
          <button
            type="button"
            className="button quiet icon"
            aria-label={`Stop following ${written(token)}`}
            onClick={() => move({ answers: view.answers.filter((id) => id !== token.id) })}
          >
            ×
          </button>
        )}
      </td>
    </tr>
  );
}

type Found = { text: string; tokens: Token[] };

/** Type what should be followed. An answer is one token: where the text is more, its parts are offered. */
function Picker() {
  const { view, move } = useLab();
  const id = useId();
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<ApiError>();

  const follow = (token: Token) => {
    move({ answers: [...view.answers.filter((other) => other !== token.id), token.id].slice(-2) });
    setText("");
    setFound(null);
  };
  const look = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    setFound(null);
    if (text === "" || !view.model) return;
    try {
      const { tokens } = await labApi.tokenize(view.model, text, false);
      const [only] = tokens;
      if (tokens.length === 1 && only) follow(only);
      else setFound({ text, tokens });
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };

  return (
    <form className="answer-picker" onSubmit={look}>
      <label htmlFor={id} className="small muted">
        {view.answers.length === 0
          ? "Follow a token, or two to see the difference of their logits"
          : view.answers.length === 1
            ? "Against another token"
            : "Another token, in place of the first"}
      </label>
      <div className="answer-field">
        <input
          id={id}
          className="mono"
          value={text}
          autoComplete="off"
          spellCheck={false}
          placeholder="type it, a leading space counts"
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button" disabled={text === ""}>
          Follow
        </button>
      </div>
      {found && (
        <p className="small" role="status">
          {found.tokens.length === 0
            ? "That isn’t a token."
            : `That is ${found.tokens.length} tokens; an answer is a single one. Follow one of them:`}{" "}
          {found.tokens.map((token, i) => (
            <button type="button" key={i} className="next-token" onClick={() => follow(token)}>
              <TokenView token={token} />
            </button>
          ))}
        </p>
      )}
      {error && <ProblemNote error={error} />}
    </form>
  );
}
