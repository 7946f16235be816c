import { useQueryClient } from "@tanstack/react-query";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { labApi, labQueries } from "../../api/lab";
import { Menu, MenuItem } from "../../parts/Menu";
import { ProblemNote } from "../../parts/ProblemNote";
import { useLab } from "../state/useLab";
import { SavedPrompts } from "./SavedPrompts";

/** What another prompt starts from: positions and followed tokens belong to the last one. */
export const OTHER_PROMPT = { row: 0, locked: [], at: null, answers: [] };

/** Keep a file's prompts and look at the first. */
function useUpload() {
  const client = useQueryClient();
  const { move } = useLab();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const upload = async (file: File) => {
    setBusy(true);
    setError(undefined);
    const form = new FormData();
    form.append("file", file);
    try {
      const kept = await labApi.uploadPrompts(form);
      void client.invalidateQueries({ queryKey: labQueries.prompts().queryKey, exact: true });
      move({ ...OTHER_PROMPT, prompt: kept.id, example: null });
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return { upload, error, busy };
}

interface PromptSourcesProps {
  editing: boolean;
  onEdit: () => void;
  onOther: () => void;
  children: ReactNode;
}

/** Where prompts come from: typing, a file (chosen or dropped on what is inside), examples, those kept. */
export function PromptSources({ editing, onEdit, onOther, children }: PromptSourcesProps) {
  const { examples, move } = useLab();
  const { upload, error, busy } = useUpload();
  const [kept, setKept] = useState(false);
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const take = (file: File | undefined) => {
    if (!file) return;
    onOther();
    void upload(file);
  };
  const drop = (event: DragEvent) => {
    setOver(false);
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping a file is a second way to the button "File"
    <div
      className={over ? "prompt-sources over" : "prompt-sources"}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="source-row">
        <button type="button" className="button" aria-pressed={editing} onClick={onEdit}>
          Write a prompt
        </button>
        <Menu label="Examples" title="Built-in prompts">
          {(examples.data ?? []).map(({ name, title }) => (
            <MenuItem
              key={name}
              onSelect={() => {
                onOther();
                move({ ...OTHER_PROMPT, prompt: null, example: name, bos: null });
              }}
            >
              {title}
            </MenuItem>
          ))}
        </Menu>
        <button
          type="button"
          className="button"
          disabled={busy}
          title="A text file, or many prompts as JSONL or CSV; it may also be dropped here"
          onClick={() => input.current?.click()}
        >
          {busy ? "Reading…" : "File or batch"}
        </button>
        <input
          ref={input}
          type="file"
          hidden
          aria-label="A file with prompts"
          accept=".txt,.jsonl,.csv,.tsv,text/plain,text/csv"
          onChange={(event) => {
            take(event.target.files?.[0]);
            event.target.value = "";
          }}
        />
        <button type="button" className="button" onClick={() => setKept(true)}>
          Saved prompts
        </button>
      </div>
      {error && <ProblemNote error={error} />}
      {children}
      {kept && (
        <SavedPrompts
          onClose={() => setKept(false)}
          onPick={(id) => {
            setKept(false);
            onOther();
            move({ ...OTHER_PROMPT, prompt: id, example: null });
          }}
        />
      )}
    </div>
  );
}
