// Loading into a component: the last answer stays while a new one is on its way, and a server that
// comes back is asked again.
import { useCallback, useEffect, useRef, useState } from "react";
import { useConnection } from "./connection";
import { type ApiError, asApiError } from "./errors";

export interface Resource<T> {
  data: T | undefined;
  error: ApiError | undefined;
  loading: boolean;
  reload: () => void;
}

const answers = new Map<string, unknown>();
const LIMIT = 200;

function remember(key: string, value: unknown): void {
  answers.delete(key);
  answers.set(key, value);
  for (const oldest of answers.keys()) {
    if (answers.size <= LIMIT) break;
    answers.delete(oldest);
  }
}

/** Forget answers whose key starts so, e.g. after a deletion. */
export function forget(prefix: string): void {
  for (const key of [...answers.keys()]) if (key.startsWith(prefix)) answers.delete(key);
}

interface Loaded {
  key: string | null;
  data?: unknown;
  error?: ApiError;
  settled: boolean;
}

/**
 * What `load` answers for `key`; null loads nothing. `fixed` marks what never changes (a finished
 * run's arrays): it is asked for once.
 */
export function useResource<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  { fixed = false }: { fixed?: boolean } = {},
): Resource<T> {
  const { returns } = useConnection();
  const [turn, setTurn] = useState(0);
  const [loaded, setLoaded] = useState<Loaded>({ key: null, settled: false });
  const loadRef = useRef(load);
  loadRef.current = load;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn or a server come back asks again
  useEffect(() => {
    if (key === null || (fixed && answers.has(key))) return;
    const controller = new AbortController();
    loadRef.current(controller.signal).then(
      (data) => {
        remember(key, data);
        if (!controller.signal.aborted) setLoaded({ key, data, settled: true });
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        setLoaded({ key, data: answers.get(key), error: asApiError(error), settled: true });
      },
    );
    return () => controller.abort();
  }, [key, fixed, turn, returns]);

  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const mine = loaded.key === key && key !== null;
  const data = (mine ? loaded.data : key === null ? undefined : answers.get(key)) as T | undefined;
  const error = mine ? loaded.error : undefined;
  return { data, error, loading: key !== null && data === undefined && error === undefined, reload };
}

/** The resource, but while another answer about the same `what` is on its way, the last one stays. */
export function useLasting<T>(resource: Resource<T>, what: string): Resource<T> {
  const last = useRef<{ what: string; data: T }>(undefined);
  useEffect(() => {
    if (resource.data !== undefined) last.current = { what, data: resource.data };
  }, [resource.data, what]);
  if (resource.data !== undefined || resource.error || last.current?.what !== what) return resource;
  return { ...resource, data: last.current.data, loading: false };
}

/** Ask again every `ms` while `active`, except while the page is hidden. */
export function useInterval(action: () => void, ms: number, active: boolean): void {
  const ref = useRef(action);
  ref.current = action;
  useEffect(() => {
    if (!active) return;
    const timer = setInterval(() => document.hidden || ref.current(), ms);
    return () => clearInterval(timer);
  }, [ms, active]);
}
