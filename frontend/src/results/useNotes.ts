import { useQueries } from "@tanstack/react-query";
import { queries, type ResultName } from "../api/queries";

/** Caveats when reading results, in sentences, as their analyses left them; each once. */
export function useNotes(runs: readonly ResultName[], share: string | null): string[] {
  const results = useQueries({ queries: runs.map((run) => queries.result(run, { share, arrays: false })) });
  const notes = results.flatMap(({ data }) => data?.values.notes ?? []);
  return [...new Set(notes.filter((note): note is string => typeof note === "string"))];
}
