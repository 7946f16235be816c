import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { labApi, labQueries } from "../../api/lab";
import type { GateVector } from "../../api/labTypes";
import { moment, plural } from "../../format/numbers";
import { Dialog } from "../../parts/Dialog";
import { ProblemNote } from "../../parts/ProblemNote";
import { decode } from "../../plot/arrays";
import type { Sizes } from "../state/gates";
import { useLab } from "../state/useLab";
import { UseGates } from "./UseGates";

interface SavedGatesProps {
  sizes: Sizes;
  onClose: () => void;
}

/** The gates that were saved for this model: take them up, use them elsewhere, delete them. */
export function SavedGates({ sizes, onClose }: SavedGatesProps) {
  const { view } = useLab();
  const model = view.model ?? "";
  const vectors = useQuery(labQueries.gateVectors(model));
  const [error, setError] = useState<ApiError>();
  const remove = async (id: string) => {
    try {
      await labApi.deleteGates(id);
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    void vectors.refetch();
  };
  const open = async (file: File) => {
    setError(undefined);
    const form = new FormData();
    form.append("file", file);
    form.append("model", model);
    try {
      await labApi.uploadGates(form);
      void vectors.refetch();
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };
  const failed = error ?? vectors.error;
  return (
    <Dialog title="Saved gates" onClose={onClose}>
      <GateFile onOpen={open} />
      {failed && <ProblemNote error={failed} retry={error ? undefined : vectors.refetch} />}
      {vectors.isLoading && (
        <div className="skeleton list-skeleton" role="status" aria-label="Loading saved gates" />
      )}
      {vectors.data?.length === 0 && (
        <p>No gates of this model are saved yet. Set some on the board and save them, or open a file.</p>
      )}
      <ul className="choice-list">
        {vectors.data?.map((vector) => (
          <Kept
            key={vector.id}
            vector={vector}
            sizes={sizes}
            onClose={onClose}
            onDelete={() => void remove(vector.id)}
          />
        ))}
      </ul>
    </Dialog>
  );
}

/** Save the gates in a file, as the export writes them. */
function GateFile({ onOpen }: { onOpen: (file: File) => Promise<void> }) {
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="source-row">
      <button
        type="button"
        className="button"
        disabled={busy}
        title="JSON, CSV with columns layer, head and gate, or safetensors"
        onClick={() => input.current?.click()}
      >
        {busy ? "Reading…" : "From a file"}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="A file with gates"
        accept=".json,.csv,.tsv,.safetensors"
        onChange={async ({ target }) => {
          const file = target.files?.[0];
          if (!file) return;
          setBusy(true);
          await onOpen(file);
          setBusy(false);
          target.value = "";
        }}
      />
    </div>
  );
}

interface KeptProps extends SavedGatesProps {
  vector: GateVector;
  onDelete: () => void;
}

function Kept({ vector, sizes, onClose, onDelete }: KeptProps) {
  const { setGates } = useLab();
  const [open, setOpen] = useState(false);
  const fits = vector.n_layers === sizes.layers && vector.n_heads === sizes.heads;
  const load = () => {
    setGates(Float32Array.from(decode(vector.gates).values));
    onClose();
  };
  return (
    <li className="kept">
      <div>
        <strong>{vector.name}</strong>
        <p className="muted small">
          {plural(vector.closed, "head")} muted · {vector.origin} · {moment(vector.created_at)}
        </p>
      </div>
      <div className="dialog-actions">
        <button
          type="button"
          className="button"
          disabled={!fits}
          title={
            fits ? undefined : `These gates are for ${vector.n_layers} layers of ${vector.n_heads} heads.`
          }
          onClick={load}
        >
          Load
        </button>
        <button type="button" className="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          Use
        </button>
        <button
          type="button"
          className="button quiet"
          aria-label={`Delete ${vector.name}`}
          onClick={onDelete}
        >
          Delete
        </button>
      </div>
      {open && <UseGates vector={vector} />}
    </li>
  );
}
