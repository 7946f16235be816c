import { address, api } from "../../api/client";
import type { GateVector } from "../../api/labTypes";
import { useResource } from "../../api/resource";
import type { Analysis } from "../../api/types";
import { CopyButton } from "../../parts/CopyButton";

const FORMATS = ["json", "csv", "safetensors"] as const;

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
        {FORMATS.map((format) => (
          <a
            key={format}
            className="button"
            href={address(`gates/${encodeURIComponent(vector.id)}/export`, { format })}
            download
          >
            {format === "safetensors" ? format : format.toUpperCase()}
          </a>
        ))}
      </div>
    </div>
  );
}
