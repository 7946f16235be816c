// A run as it happens: server-sent events while it is queued or running, plain requests where they fail.
import { useEffect, useState } from "react";
import { api, eventsAddress } from "./client";
import { forget, type Resource, useInterval, useResource } from "./resource";
import { FINAL, type Run } from "./types";

export interface LiveRun extends Resource<Run> {
  /** Put in what another request answered (a cancel, a reproduction), before the next event says it. */
  set: (run: Run) => void;
}

/** A run is in motion while it, or an attempt to reproduce it, isn't over. */
export function inMotion(run: Run | undefined): boolean {
  if (!run) return false;
  return !FINAL.has(run.status) || run.attempts.some((attempt) => !FINAL.has(attempt.status));
}

const read = new Map<string, string | null>();

/** Forget what was read of a run whose result is another now: it had been stopped, and was gone on with. */
export function forgetOutdated(run: Pick<Run, "id" | "result">): void {
  const before = read.get(run.id);
  if (before !== undefined && before !== null && before !== run.result) {
    for (const kind of ["result", "figure", "table", "notes"]) forget(`${kind} ${run.id}`);
  }
  read.set(run.id, run.result);
}

export function useRun(id: string | null, share: string | null = null): LiveRun {
  const loaded = useResource(id === null ? null : `run ${id}`, (signal) => api.run(id ?? "", share, signal));
  const [event, setEvent] = useState<Run | null>(null);
  const [stream, setStream] = useState<"open" | "broken">("broken");
  const data = event && event.id === loaded.data?.id ? event : loaded.data;
  if (data) forgetOutdated(data);
  const moving = inMotion(data);
  const running = data !== undefined && !FINAL.has(data.status);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a fresh answer to a request outdates the last event
  useEffect(() => setEvent(null), [loaded.data]);

  useEffect(() => {
    if (id === null || !running) return;
    const source = new EventSource(eventsAddress(id, share));
    source.addEventListener("open", () => setStream("open"));
    source.addEventListener("run", (message) => setEvent(JSON.parse(message.data) as Run));
    source.addEventListener("error", () => setStream("broken"));
    return () => {
      source.close();
      setStream("broken");
    };
  }, [id, share, running]);

  useInterval(loaded.reload, 3000, moving && stream === "broken");
  return { ...loaded, data, set: setEvent };
}
