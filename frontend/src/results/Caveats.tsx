import type { Run } from "../api/types";
import { Words } from "../parts/Words";
import { useNotes } from "./useNotes";

/** What the numbers of these results don't say. */
export function Caveats({ runs, share = null }: { runs: readonly Run[]; share?: string | null }) {
  const notes = useNotes(runs, share);
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
