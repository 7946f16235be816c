import { headName } from "../../url/heads";
import { gateWords, headAt } from "../state/gates";
import { columnsOf, type Look } from "../state/look";
import { useLab } from "../state/useLab";
import { scoreText } from "../words";

interface HeadTableProps {
  look: Look;
  order: readonly number[];
  gates: Float32Array;
}

/** The contact sheet's twin: every score of every head as a number. */
export function HeadTable({ look, order, gates }: HeadTableProps) {
  const { select } = useLab();
  const columns = columnsOf(look);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="table-box" tabIndex={0} aria-label="Scores of each head on this prompt">
      <table className="table">
        <caption className="visually-hidden">Scores of each head on this prompt</caption>
        <thead>
          <tr>
            <th scope="col">head</th>
            {columns.map(({ name, title, unit, reading }) => (
              <th key={name} scope="col" title={reading}>
                {title}
                {unit && <span className="unit"> {unit}</span>}
              </th>
            ))}
            <th scope="col">gate</th>
          </tr>
        </thead>
        <tbody>
          {order.map((at) => (
            <tr key={at}>
              <th scope="row">
                <button type="button" className="link-button" onClick={() => select(headAt(look, at))}>
                  {headName(headAt(look, at))}
                </button>
              </th>
              {columns.map(({ name, values }) => (
                <td key={name}>{scoreText(values[at])}</td>
              ))}
              <td>{gateWords(gates[at] ?? 1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
