import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { queries } from "../api/queries";
import type { Validation, ValidationCell } from "../api/types";
import { CopyButton } from "../parts/CopyButton";
import { ProblemNote } from "../parts/ProblemNote";
import "../parts/table.css";
import { Drawing } from "../plot/Picture";
import { usePlotly } from "../plot/plotly";
import "./validation.css";
import { RolesAgain } from "./RolesAgain";
import { area, counted, strict } from "./words";

/** How well causal head gating finds roles that are known, as the commands measured it. */
export default function ValidationPage() {
  usePlotly();
  const validations = useQuery(queries.validations());
  return (
    <div className="page">
      <h1>Validation</h1>
      <p className="facts">
        Does causal head gating find what is there? Models whose heads’ roles are known are fitted like any
        run. AUROC is the chance that a head of a role scores higher than one without it: 1 is perfect, 0.5 is
        chance. And are roles there again in fits that nobody looked at? Every figure can be made again by its
        command.
      </p>
      {validations.error && <ProblemNote error={validations.error} retry={validations.refetch} />}
      {validations.isLoading && (
        <div className="skeleton page-skeleton" role="status" aria-label="Loading the results" />
      )}
      {validations.data?.map((one) => (
        <Shown key={one.name} one={one} />
      ))}
      <RolesAgain />
    </div>
  );
}

function Shown({ one }: { one: Validation }) {
  const heading = useId();
  const figure = useQuery(queries.validationFigure(one.name));
  return (
    <section className="card validation" aria-labelledby={heading}>
      <h2 id={heading}>{one.title}</h2>
      <p className="muted">{one.summary}</p>
      <p className={one.passed ? "met" : "missed"}>{verdict(one)}</p>
      {figure.error && <ProblemNote error={figure.error} retry={figure.refetch} />}
      {figure.data && <Drawing figure={figure.data} label={one.title} />}
      {figure.data?.layout.meta?.reading && <p className="caption">{figure.data.layout.meta.reading}</p>}
      <Cells one={one} />
      <p className="command">
        <code>{one.command}</code> <CopyButton text={one.command} />
      </p>
    </section>
  );
}

/** Whether the goals are met, and where they aren't. */
function verdict({ passed, cells }: Validation): string {
  if (passed) return "All goals are met.";
  const missed = cells.filter((cell) => cell.missed.length > 0);
  if (missed.length === 0) return "No model is what it was planted as.";
  return `Below its goal: ${missed.map((cell) => `${cell.missed.join(", ")} (${cell.name})`).join("; ")}.`;
}

function Cells({ one }: { one: Validation }) {
  return (
    <div className="table-box">
      <table className="table">
        <caption>AUROC, mean over draws [95 %]; below it precision / recall by the strict rule.</caption>
        <thead>
          <tr>
            <th className="words">models</th>
            <th>draws</th>
            {one.measures.map(({ name, title, goal }) => (
              <th key={name}>
                {title}
                {goal !== null && <span className="muted"> ≥ {goal}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {one.cells.map((cell) => (
            <Row key={cell.name} cell={cell} measures={one.measures.map(({ name }) => name)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ cell, measures }: { cell: ValidationCell; measures: readonly string[] }) {
  return (
    <tr>
      <th scope="row" className="words">
        {cell.name}
      </th>
      <td>{counted(cell)}</td>
      {measures.map((name) => {
        const found = cell.found[name];
        return (
          <td key={name} className={cell.missed.includes(name) ? "missed" : undefined}>
            {area(found)}
            <br />
            <span className="muted">{strict(found)}</span>
          </td>
        );
      })}
    </tr>
  );
}
