import type { Run } from "../api/types";
import { type ModelChoice, particulars } from "./compareRuns";

interface RunChipsProps {
  choices: readonly ModelChoice[];
  chosen: readonly string[];
  /** No more can be taken. */
  full: boolean;
  onToggle: (id: string) => void;
}

/** The runs there are, a row a model, a chip a task; those in the comparison are pressed. */
export function RunChips({ choices, chosen, full, onToggle }: RunChipsProps) {
  const chip = (run: Run, text: string) => {
    const on = chosen.includes(run.id);
    return (
      <li key={run.id}>
        <button
          type="button"
          className="run-chip"
          aria-pressed={on}
          disabled={full && !on}
          title={particulars(run)}
          onClick={() => onToggle(run.id)}
        >
          {text}
          <span className="muted small"> {run.seeds.length}</span>
          <span className="visually-hidden"> seeds</span>
        </button>
      </li>
    );
  };
  const titleOf = (run: Run) => run.task_title ?? run.task ?? "";
  const others = choices.flatMap(({ others }) => others);
  return (
    <section className="run-chips" aria-label="Runs to compare">
      {choices.map(({ model, title, best }) => (
        <div key={model} className="chip-row">
          <span className="chip-model">{title}</span>
          <ul>{best.map((run) => chip(run, titleOf(run)))}</ul>
        </div>
      ))}
      {others.length > 0 && (
        <details open={others.some(({ id }) => chosen.includes(id)) || undefined}>
          <summary>Other runs of the same tasks ({others.length})</summary>
          <ul>
            {others.map((run) => chip(run, `${run.model_title} · ${titleOf(run)} · ${particulars(run)}`))}
          </ul>
        </details>
      )}
    </section>
  );
}
