import { addressOf } from "../../api/http";
import type { GateVector } from "../../api/labTypes";
import type { Analysis } from "../../api/types";
import { CopyButton } from "../../parts/CopyButton";
import { useAnalyses } from "../../results/analyses";
import { Link } from "../../url/navigation";
import { NEW_RUN } from "../../url/view";
import { useLab } from "../state/useLab";

const FORMATS = ["json", "csv", "safetensors"] as const;

/** The commands that use saved gates: of each analysis that takes them, where everything else it needs is there. */
export function commandsFor(
  analyses: readonly Pick<Analysis, "name" | "references" | "needs_task">[],
  { model, id }: Pick<GateVector, "model" | "id">,
  prompt: string | null,
): string[] {
  const available: Record<string, string | null> = { gates: id, prompts: prompt, run: null };
  const commands = analyses.flatMap(({ name, references, needs_task }) => {
    const named = Object.entries(references).map(
      ([param, kind]) => [param, available[kind] ?? null] as const,
    );
    const takesGates = Object.values(references).includes("gates");
    if (!takesGates || needs_task || named.some(([, value]) => value === null)) return [];
    const params = named.map(([param, value]) => `--param ${param}=${value}`).join(" ");
    return [`headscope run ${name} --model ${model} ${params}`];
  });
  return [...commands, `headscope gates bake ${id} -o ${model}-gated`];
}

/** What saved gates are good for elsewhere: a command, a line of Python, files. */
export function UseGates({ vector }: { vector: GateVector }) {
  const analyses = useAnalyses();
  const { view } = useLab();
  const commands = commandsFor(analyses.data ?? [], vector, view.prompt);
  const python = `import headscope\nwith headscope.gated(model, headscope.load_gates("${vector.id}")):  # any Hugging Face model\n    logits = model(input_ids).logits`;
  const evaluation = {
    page: "new" as const,
    ...NEW_RUN,
    analysis: "evaluation",
    model: vector.model,
    params: { gates: vector.id },
  };
  return (
    <div className="use-gates">
      <Link className="button" to={evaluation}>
        Evaluate on tasks
      </Link>
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
            href={addressOf("/api/v1/gates/{gates_id}/export", {
              path: { gates_id: vector.id },
              query: { format },
            })}
            download
          >
            {format === "safetensors" ? format : format.toUpperCase()}
          </a>
        ))}
      </div>
    </div>
  );
}
