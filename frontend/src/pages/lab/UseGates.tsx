import { api } from "../../api/client";
import type { GateVector } from "../../api/labTypes";
import { useResource } from "../../api/resource";
import type { Analysis } from "../../api/types";
import { fileName, gatesCsv, gatesJson, gatesSafetensors, type NamedGates, save } from "../../lab/files";
import { CopyButton } from "../../parts/CopyButton";
import { decode } from "../../plot/arrays";

function named({ name, model, revision, gates, n_layers, n_heads }: GateVector): NamedGates {
  return {
    name,
    model,
    revision,
    gates: Float32Array.from(decode(gates).values),
    sizes: { layers: n_layers, heads: n_heads },
  };
}

/** The analyses that take saved gates, and the parameter that does. */
export function takingGates(analyses: Analysis[] | undefined): { name: string; param: string }[] {
  return (analyses ?? []).flatMap(({ name, references }) =>
    Object.entries(references)
      .filter(([, kind]) => kind === "gates")
      .map(([param]) => ({ name, param })),
  );
}

/** What saved gates are good for elsewhere: a command, a line of Python, files. */
export function UseGates({ vector }: { vector: GateVector }) {
  const analyses = useResource("analyses", (signal) => api.analyses(signal), { fixed: true });
  const commands = takingGates(analyses.data).map(
    ({ name, param }) => `headscope run ${name} --model ${vector.model} --param ${param}=${vector.id}`,
  );
  const python = `import headscope\n\ngates = headscope.load_gates("${vector.id}").gates  # [layers, heads]`;
  const file = (ending: string) => fileName(vector.name, ending);
  return (
    <div className="use-gates">
      {[...commands, python].map((text) => (
        <div className="use-line" key={text}>
          <pre>
            <code>{text}</code>
          </pre>
          <CopyButton text={text} />
        </div>
      ))}
      <div className="dialog-actions">
        <span className="muted small">Export</span>
        <button
          type="button"
          className="button"
          onClick={() => save(gatesJson(named(vector)), file("json"), "application/json")}
        >
          JSON
        </button>
        <button
          type="button"
          className="button"
          onClick={() => save(gatesCsv(named(vector)), file("csv"), "text/csv")}
        >
          CSV
        </button>
        <button
          type="button"
          className="button"
          onClick={() =>
            save(gatesSafetensors(named(vector)), file("safetensors"), "application/octet-stream")
          }
        >
          safetensors
        </button>
      </div>
    </div>
  );
}
