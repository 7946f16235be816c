import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { Run } from "../api/types";
import { ProblemNote } from "../parts/ProblemNote";
import { rowOf } from "../results/headRow";
import type { Head } from "../url/view";

/** What the eigenvalue analysis says of a head in numbers. */
export function HeadScores({ run, head }: { run: Run; head: Head }) {
  const table = useQuery(queries.table(run, "copying"));
  if (table.error) return <ProblemNote error={table.error} retry={table.refetch} />;
  if (!table.data) return <div className="skeleton head-skeleton" role="status" aria-label="Loading" />;
  return (
    <dl className="facts-list">
      {rowOf(table.data, head)
        .filter(({ text }) => text !== "")
        .map(({ title, text }) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{text}</dd>
          </div>
        ))}
    </dl>
  );
}
