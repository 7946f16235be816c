import { api } from "../../api/client";
import { useResource } from "../../api/resource";
import type { Run } from "../../api/types";

/** What to mind when reading a result, in sentences, as the analysis left them. */
export function useNotes(run: Pick<Run, "id">, share: string | null): string[] {
  const { data } = useResource(`values ${run.id}`, (signal) => api.values(run.id, share, signal), {
    fixed: true,
  });
  return [data?.values.notes ?? []].flat().filter((note): note is string => typeof note === "string");
}
