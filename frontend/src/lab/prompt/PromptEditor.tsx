import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { labApi, labQueries } from "../../api/lab";
import { count, plural } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { TokenText } from "../../tokens/TokenText";
import { useLab } from "../state/useLab";
import { bosInWords } from "../words";
import { faultOf } from "./promptText";
import { type Typed, useTokenized } from "./useTokenized";

/** Of a long text, the tokens that are shown while it is typed. */
const PREVIEW = 300;

interface PromptEditorProps {
  /** What stands in it first. */
  text: string;
  /** There is a prompt to go back to. */
  onCancel: (() => void) | null;
  onDone: () => void;
}

/** The prompt as text: tokens appear while it is typed; Ctrl or ⌘ with Enter looks. */
export function PromptEditor({ text: first, onCancel, onDone }: PromptEditorProps) {
  const client = useQueryClient();
  const { view, move, models, examples } = useLab();
  const [text, setText] = useState(first);
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const model = models.find(({ name }) => name === view.model);
  const fault = useMemo(() => faultOf(text), [text]);
  const typed = useTokenized(model?.ready && !fault ? model.name : "", text, view.bos);
  const tooLong = typed.current && typed.data && typed.data.tokens.length > typed.data.n_ctx;
  // A text that can't be split into tokens is no prompt; the fault is told once, above the button.
  const ready = text !== "" && !fault && !tooLong && !busy && !(typed.current && typed.error);
  useEffect(() => {
    area.current?.focus({ preventScroll: true });
    area.current?.select();
  }, []);

  const look = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!ready) return;
    setBusy(true);
    setError(undefined);
    const fresh = { row: 0, locked: [], at: null, answers: [] };
    try {
      const example = examples.data?.find((one) => one.text === text);
      if (example) move({ ...fresh, prompt: null, example: example.name });
      else {
        const kept = await labApi.keepPrompt(text);
        void client.invalidateQueries({ queryKey: labQueries.prompts().queryKey, exact: true });
        move({ ...fresh, prompt: kept.id, example: null });
      }
      onDone();
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void look();
    else if (event.key === "Escape" && onCancel) onCancel();
    else return;
    event.preventDefault();
  };
  return (
    <form className="prompt-editor" onSubmit={(event) => void look(event)}>
      <textarea
        ref={area}
        aria-label="Your prompt"
        placeholder="Paste or type a prompt: text with repeated phrases shows induction best."
        rows={4}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={key}
      />
      {fault ? (
        <div className="problem" role="alert">
          <p className="problem-detail">{fault.wrong}</p>
          <p className="problem-remedy">{fault.remedy}</p>
        </div>
      ) : (
        <TypedTokens typed={typed} empty={text === ""} />
      )}
      {error && <ProblemNote error={error} />}
      <div className="card-actions">
        <button type="submit" className="button primary" disabled={!ready}>
          Analyse
        </button>
        {onCancel && (
          <button type="button" className="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <span className="muted small editor-note">
          Ctrl or ⌘ + Enter does the same. The text is stored on this server, under “Saved prompts”, until you
          delete it; links never contain it.
        </span>
      </div>
    </form>
  );
}

function TypedTokens({ typed: { data, error, current }, empty }: { typed: Typed; empty: boolean }) {
  if (error && current) return <ProblemNote error={error} />;
  if (empty || !data) return <p className="muted small">{empty ? "No token yet." : "Counting tokens…"}</p>;
  const { tokens, n_ctx, bos } = data;
  return (
    <div className="typed-tokens" aria-busy={!current}>
      <p className="muted small" role="status">
        {plural(tokens.length, "token")} · {bosInWords(bos)} · the model’s context is {count(n_ctx)}
        {tokens.length > n_ctx && (
          <strong className="too-long">
            {" "}
            · {plural(tokens.length - n_ctx, "token")} too many: shorten the text
          </strong>
        )}
      </p>
      <TokenText tokens={tokens.slice(0, PREVIEW)} />
      {tokens.length > PREVIEW && (
        <p className="muted small">… and {plural(tokens.length - PREVIEW, "more token", "more tokens")}</p>
      )}
    </div>
  );
}
