import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { queries } from "../api/queries";
import type { KnownModel } from "../api/types";
import { bytes, number } from "../format/numbers";
import { CopyButton } from "../parts/CopyButton";
import { ProblemNote } from "../parts/ProblemNote";
import { Link } from "../url/navigation";
import { room } from "./room";
import { TryConfig } from "./TryConfig";

/** How a model comes here: the command for a known one, for any other, and a configuration to try first. */
export function AddModel() {
  const known = useQuery(queries.knownModels());
  return (
    <section className="card add-model" aria-label="Add a model">
      {known.error && <ProblemNote error={known.error} retry={known.refetch} />}
      {known.isLoading && (
        <div className="skeleton list-skeleton" role="status" aria-label="Loading the known models" />
      )}
      {known.data && (
        <>
          <p className="muted">{known.data.why}</p>
          <div className="table-box known-models">
            <table className="table">
              <caption>
                Known models.{" "}
                {known.data.memory_bytes === null
                  ? "No worker says how much memory is here."
                  : `The largest device here has ${bytes(known.data.memory_bytes)}.`}
              </caption>
              <thead>
                <tr>
                  <th scope="col" className="words">
                    Model
                  </th>
                  <th scope="col">Parameters</th>
                  <th scope="col">Layers × heads</th>
                  <th scope="col">Download</th>
                  <th scope="col">Memory</th>
                  <th scope="col" className="words">
                    Licence
                  </th>
                  <th scope="col" className="words">
                    To have it here
                  </th>
                </tr>
              </thead>
              <tbody>
                {known.data.models.map((model) => (
                  <KnownRow key={model.name} model={model} />
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      <AnyModel />
      <TryConfig />
    </section>
  );
}

function KnownRow({ model }: { model: KnownModel }) {
  return (
    <tr>
      <th scope="row" className="words" title={model.summary}>
        {model.title}
      </th>
      <td>{number(model.n_params / 1e6)} M</td>
      <td>
        {model.n_layers} × {model.n_heads}
      </td>
      <td>{bytes(model.bytes_to_download)}</td>
      <td className="wraps">{room(model)}</td>
      <td className="words wraps">
        {model.licence}
        {model.gated && <span className="muted small"> gated: its terms are accepted on the hub first</span>}
      </td>
      <td className="words">
        {model.here ? (
          <Link to={{ page: "model", name: model.name }}>it is here</Link>
        ) : (
          <Command text={model.command} />
        )}
      </td>
    </tr>
  );
}

/** A hub name, or a folder of the server's, and the command that adds it. */
function AnyModel() {
  const [text, setText] = useState("");
  const command = commandFor(text);
  return (
    <div className="any-model">
      <label className="field">
        Any other: a hub name such as org/name, or a folder or GGUF file on the server
        <input
          value={text}
          maxLength={400}
          spellCheck={false}
          placeholder="org/name or /path/to/folder"
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {command && <Command text={command} />}
    </div>
  );
}

function Command({ text }: { text: string }) {
  return (
    <div className="command-row">
      <pre className="command">{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}

/** `fetch` for a hub name, `add` with a name made of a path's last part; null for nothing. */
export function commandFor(text: string): string | null {
  const given = text.trim();
  if (given === "") return null;
  if (/^[\w.-]+\/[\w.-]+$/.test(given) && !given.startsWith(".")) return `headscope models fetch ${given}`;
  const last = given.split(/[\\/]/).findLast((part) => part !== "") ?? "";
  const name = last
    .replace(/\.gguf$/i, "")
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[-._]+|[-._]+$/g, "");
  return `headscope models add ${name || "my-model"} ${/[^\w./\\:~-]/.test(given) ? `'${given.replaceAll("'", "'\\''")}'` : given}`;
}
