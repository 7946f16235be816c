import { api } from "../api/client";
import { useResource } from "../api/resource";
import type { Run } from "../api/types";

/** What to mind when reading results, in sentences, as their analyses left them; each once. */
export function useNotes(runs: readonly Pick<Run, "id">[], share: string | null): string[] {
  const ids = runs.map(({ id }) => id);
  const { data } = useResource(
    ids.length > 0 ? `notes ${ids.join(" ")}` : null,
    (signal) => Promise.all(ids.map((id) => api.values(id, share, signal))),
    { fixed: true },
  );
  const notes = data?.flatMap(({ values }) => values.notes ?? []) ?? [];
  return [...new Set(notes.filter((note): note is string => typeof note === "string"))];
}
