import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { labApi, labQueries } from "../../api/lab";
import type { GateVector } from "../../api/labTypes";
import { Dialog } from "../../parts/Dialog";
import { ProblemNote } from "../../parts/ProblemNote";
import { changed, type Sizes, toRows } from "../state/gates";
import { useLab } from "../state/useLab";
import { gatesInWords, namesOf } from "./board";
import { UseGates } from "./UseGates";

/** Keep the current gates under a name. */
export function SaveGates({ sizes }: { sizes: Sizes }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        Save gates
      </button>
      {open && <SaveDialog sizes={sizes} onClose={() => setOpen(false)} />}
    </>
  );
}

function SaveDialog({ sizes, onClose }: { sizes: Sizes; onClose: () => void }) {
  const client = useQueryClient();
  const { gates, view } = useLab();
  const model = view.model ?? "";
  const kind = view.closed && { ablation: view.closed.ablation };
  const all = changed(gates);
  const [name, setName] = useState(
    all.length > 0 && all.length <= 8 ? `${namesOf(sizes, all, 8)} changed` : gatesInWords(gates),
  );
  const [kept, setKept] = useState<GateVector | null>(null);
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      setKept(await labApi.keepGates({ name: name.trim(), model, gates: toRows(gates, sizes), ...kind }));
      void client.invalidateQueries({ queryKey: labQueries.gateVectors(model).queryKey });
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="Save these gates" onClose={onClose}>
      <p className="muted">
        {gatesInWords(gates)}. Saved gates can be loaded here, used in runs and in Python; identical gates are
        stored once.
      </p>
      <form className="answer-field" onSubmit={save}>
        <input
          aria-label="Name"
          value={name}
          maxLength={200}
          required
          onChange={(event) => setName(event.target.value)}
        />
        <button type="submit" className="button primary" disabled={busy || name.trim() === ""}>
          Save
        </button>
      </form>
      {error && <ProblemNote error={error} />}
      {kept && (
        <div role="status">
          <p>Saved as {kept.name}.</p>
          <UseGates vector={kept} />
        </div>
      )}
    </Dialog>
  );
}
