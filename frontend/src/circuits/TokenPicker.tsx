import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useId, useState } from "react";
import { circuitQueries } from "../api/circuits";
import type { Token } from "../api/types";
import { plural } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { TokenView } from "../tokens/TokenText";
import { written } from "../tokens/visible";

interface TokenPickerProps {
  model: string;
  label: string;
  onPick: (token: Token) => void;
}

/** A token of the vocabulary by its text; a leading space counts, as it does to the model. */
export function TokenPicker({ model, label, onPick }: TokenPickerProps) {
  const id = useId();
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useQuery({ ...circuitQueries.tokens(model, asked), enabled: asked !== "" });
  const shown = asked === text ? found.data : undefined;
  const options = shown ? unique([...shown.spelled, ...shown.containing]) : [];
  const pick = (token: Token) => {
    onPick(token);
    setText("");
    setAsked("");
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const [first] = options;
    if (first) pick(first);
  };
  return (
    <form className="token-picker" onSubmit={submit}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="mono"
        type="text"
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        placeholder="its text, e.g. ·the"
        value={text}
        onChange={({ target }) => setText(target.value.replace(/^·/, " "))}
      />
      {found.error && <ProblemNote error={found.error} retry={found.refetch} />}
      <ul className="token-options" aria-label="Tokens found" aria-live="polite">
        {options.map((token) => (
          <li key={token.id}>
            <button type="button" aria-label={`Token ${written(token)}`} onClick={() => pick(token)}>
              <TokenView token={token} />
            </button>
          </li>
        ))}
      </ul>
      {shown && options.length === 0 && <p className="muted small">No token contains this.</p>}
      {shown && shown.n_containing > shown.containing.length && (
        <p className="muted small">
          {plural(shown.n_containing, "token")} contain it; type more to see others.
        </p>
      )}
    </form>
  );
}

function unique(tokens: Token[]): Token[] {
  return [...new Map(tokens.map((token) => [token.id, token])).values()];
}
