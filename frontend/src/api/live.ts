// A run as it happens: server-sent events while it is queued or running, plain requests where they fail.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { eventsAddress } from "./client";
import { queries } from "./queries";
import type { Loaded } from "./query";
import { FINAL, type Run } from "./types";

export interface LiveRun extends Loaded<Run> {
  /** Put in what another request answered (a cancel, a reproduction), before the next event says it. */
  set: (run: Run) => void;
}

/** A run is in motion while it, or an attempt to reproduce it, isn't over. */
export function inMotion(run: Run | undefined): boolean {
  if (!run) return false;
  return !FINAL.has(run.status) || run.attempts.some((attempt) => !FINAL.has(attempt.status));
}

export function useRun(id: string | null, share: string | null = null): LiveRun {
  const client = useQueryClient();
  const [stream, setStream] = useState<"open" | "broken">("broken");
  const run = useQuery({
    ...queries.run(id ?? "", share),
    enabled: id !== null,
    refetchInterval: ({ state }) => stream === "broken" && inMotion(state.data) && 3000,
  });
  const running = run.data !== undefined && !FINAL.has(run.data.status);
  const set = useCallback(
    (next: Run) => void client.setQueryData(queries.run(next.id, share).queryKey, next),
    [client, share],
  );

  useEffect(() => {
    if (id === null || !running) return;
    const source = new EventSource(eventsAddress(id, share));
    source.addEventListener("open", () => setStream("open"));
    source.addEventListener("run", (message) => set(JSON.parse(message.data) as Run));
    source.addEventListener("error", () => setStream("broken"));
    return () => {
      source.close();
      setStream("broken");
    };
  }, [id, share, running, set]);

  return { data: run.data, error: run.error, isLoading: run.isLoading, refetch: run.refetch, set };
}
