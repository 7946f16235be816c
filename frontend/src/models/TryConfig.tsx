import { useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import type { Trial } from "../api/types";
import { number } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { Capability } from "./ProofCard";
import { room } from "./room";

type Outcome = { trial: Trial } | { error: ApiError } | "busy" | null;

/** A config.json, read and tried by a worker before its weights are downloaded. */
export function TryConfig() {
  const [outcome, setOutcome] = useState<Outcome>(null);
  const attempt = async (file: File) => {
    setOutcome("busy");
    try {
      setOutcome({ trial: await api.tryConfig(await file.text()) });
    } catch (thrown) {
      setOutcome({ error: asApiError(thrown) });
    }
  };
  return (
    <div className="try-config">
      <label className="field">
        Not sure whether it works? Try its config.json; nothing is kept
        <input
          type="file"
          accept=".json,application/json"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) void attempt(file);
          }}
        />
      </label>
      {outcome === "busy" && (
        <p className="muted" role="status">
          A small model of it is made and compared with the plain one …
        </p>
      )}
      {outcome && outcome !== "busy" && "error" in outcome && <ProblemNote error={outcome.error} />}
      {outcome && outcome !== "busy" && "trial" in outcome && <Tried trial={outcome.trial} />}
    </div>
  );
}

function Tried({ trial }: { trial: Trial }) {
  const groups = trial.n_kv_heads < trial.n_heads ? ` over ${trial.n_kv_heads}` : "";
  return (
    <section aria-label="What the configuration describes">
      <p>
        <strong>{trial.architecture}</strong>: {trial.n_layers} layers of {trial.n_heads} heads{groups},{" "}
        {number(trial.n_params / 1e6)} M parameters, memory {room(trial)}.
      </p>
      {trial.quantised && (
        <p>
          Its weights are stored in fewer bits ({trial.quantised}): 8-bit floats with scales are read, packed
          ones have to be saved unpacked first.
        </p>
      )}
      <ul className="proof-capabilities">
        {trial.expected.map((capability) => (
          <Capability key={capability.name} {...capability} />
        ))}
      </ul>
      <p className="muted small">
        Of a small model of this kind with random weights; the real one is proved when it is loaded.
      </p>
    </section>
  );
}
