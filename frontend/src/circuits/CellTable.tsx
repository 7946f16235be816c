import type { Cell } from "../api/circuits";
import type { Token } from "../api/types";
import { measured } from "../format/numbers";
import { TokenView } from "../tokens/TokenText";
import { written } from "../tokens/visible";

interface CellTableProps {
  caption: string;
  /** What stands in a row's two places: "source", "output". */
  names: [string, string];
  cells: Cell[];
  onToken: (token: Token) => void;
}

/** Strong cells of a token table; a click on a token shows its own cells. */
export function CellTable({ caption, names, cells, onToken }: CellTableProps) {
  const most = Math.max(...cells.map(({ value }) => Math.abs(value)), Number.MIN_VALUE);
  if (cells.length === 0) return null;
  return (
    <table className="table cell-table">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{names[0]}</th>
          <th scope="col">{names[1]}</th>
          <th scope="col">value</th>
        </tr>
      </thead>
      <tbody>
        {cells.map(({ row, column, value }) => (
          <tr key={`${row.id} ${column.id}`}>
            <td>
              <TokenButton token={row} onToken={onToken} />
            </td>
            <td>
              <TokenButton token={column} onToken={onToken} />
            </td>
            <td>
              <span className="cell-bar" aria-hidden="true">
                <i
                  className={value < 0 ? "below" : ""}
                  style={{ width: `${(100 * Math.abs(value)) / most}%` }}
                />
              </span>
              {measured(value)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function TokenButton({ token, onToken }: { token: Token; onToken: (token: Token) => void }) {
  return (
    <button
      type="button"
      className="token-button"
      aria-label={`Token ${written(token)}: show its cells`}
      onClick={() => onToken(token)}
    >
      <TokenView token={token} />
    </button>
  );
}
