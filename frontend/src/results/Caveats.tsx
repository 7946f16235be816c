import type { Run } from "../api/types";
import { Words } from "../parts/Words";
import { useNotes } from "./useNotes";

/** What the numbers of these results don't say. */
export function Caveats({
  runs,
  share = null,
  caution,
}: {
  runs: readonly Run[];
  share?: string | null;
  /** What a figure says must be known; a run's notes may say it already. */
  caution?: string | undefined;
}) {
  const found = useNotes(runs, share);
  const notes = caution === undefined || found.includes(caution) ? found : [caution, ...found];
  if (notes.length === 0) return null;
  return (
    <ul className="limits" aria-label="Caveats">
      {notes.map((note) => (
        <li key={note}>
          <Words text={note} />
        </li>
      ))}
    </ul>
  );
}
