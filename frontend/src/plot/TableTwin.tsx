import { useQuery } from "@tanstack/react-query";
import { count, measured } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { type PictureSource, tableQuery } from "./source";

function shown(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? count(value) : measured(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === null || value === undefined ? "–" : String(value);
}

/** A picture's twin: the same content as numbers. */
export function TableTwin({ source, caption }: { source: PictureSource; caption: string }) {
  const table = useQuery(tableQuery(source));
  if (table.error) return <ProblemNote error={table.error} retry={table.refetch} />;
  if (!table.data)
    return <div className="skeleton list-skeleton" role="status" aria-label="Loading the table" />;
  const { columns, rows } = table.data;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="table-box" tabIndex={0} aria-label={caption}>
      <table className="table">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, title, unit }) => (
              <th key={name} scope="col">
                {title}
                {unit && <span className="unit"> {unit}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((value, j) => (
                <td key={j}>{shown(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
