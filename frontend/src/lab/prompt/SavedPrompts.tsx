import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { labApi, labQueries } from "../../api/lab";
import type { Prompt } from "../../api/labTypes";
import { count, moment, plural } from "../../format/numbers";
import { Dialog } from "../../parts/Dialog";
import { ProblemNote } from "../../parts/ProblemNote";
import { useLab } from "../state/useLab";

interface SavedPromptsProps {
  onPick: (id: string) => void;
  onClose: () => void;
}

/** The prompts that this Headscope keeps: open one, or delete it for good. */
export function SavedPrompts({ onPick, onClose }: SavedPromptsProps) {
  const { view, move } = useLab();
  const client = useQueryClient();
  const prompts = useQuery(labQueries.prompts());
  const [error, setError] = useState<ApiError>();
  const remove = async ({ id }: Prompt) => {
    setError(undefined);
    try {
      await labApi.deletePrompt(id);
      if (view.prompt === id)
        move({ prompt: null, row: 0, locked: [], at: null, answers: [] }, { replace: true });
      await client.invalidateQueries({ queryKey: labQueries.prompts().queryKey, exact: true });
      client.removeQueries({ queryKey: labQueries.promptsOf(id) });
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };
  const shown = error ?? prompts.error;
  return (
    <Dialog title="Saved prompts" onClose={onClose}>
      {shown && <ProblemNote error={shown} retry={prompts.refetch} />}
      {prompts.isLoading && (
        <div className="skeleton list-skeleton" role="status" aria-label="Loading the prompts" />
      )}
      {prompts.data?.length === 0 && (
        <p className="muted">None yet: prompts you analyse are saved here until you delete them.</p>
      )}
      <ul className="kept-list">
        {prompts.data?.map((prompt) => (
          <KeptRow
            key={prompt.id}
            prompt={prompt}
            onPick={() => onPick(prompt.id)}
            onDelete={() => void remove(prompt)}
          />
        ))}
      </ul>
    </Dialog>
  );
}

interface KeptRowProps {
  prompt: Prompt;
  onPick: () => void;
  onDelete: () => void;
}

function KeptRow({ prompt, onPick, onDelete }: KeptRowProps) {
  const [sure, setSure] = useState(false);
  const { name, kind, n, characters, beginning, created_at } = prompt;
  return (
    <li>
      <button type="button" className="kept-open" onClick={onPick}>
        <span className="kept-name">{name || beginning || "(only spaces)"}</span>
        <span className="muted small">
          {kind === "batch" ? `${plural(n, "prompt")} · ` : ""}
          {count(characters)} characters · {moment(created_at)}
        </span>
      </button>
      {sure ? (
        <span className="kept-sure">
          <button type="button" className="button danger" onClick={onDelete}>
            Delete for good
          </button>
          <button type="button" className="button" onClick={() => setSure(false)}>
            Keep it
          </button>
        </span>
      ) : (
        <button
          type="button"
          className="button quiet"
          aria-label={`Delete ${name || beginning}`}
          onClick={() => setSure(true)}
        >
          Delete
        </button>
      )}
    </li>
  );
}
