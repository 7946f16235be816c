// TanStack Query as every page uses it: one cache, and when something is asked for again.
import {
  QueryClient,
  QueryClientProvider,
  type QueryKey,
  type UseQueryOptions,
  useQuery,
} from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useConnection } from "./connection";
import type { ApiError } from "./errors";
import { isAskedBack, pauseBefore, untilAnswered } from "./retry";

declare module "@tanstack/react-query" {
  interface Register {
    defaultError: ApiError;
  }
}

/** What a page shows of a query, or of what it made of one. */
export interface Loaded<T> {
  data: T | undefined;
  error: ApiError | null;
  /** There is neither yet, and it is on its way. */
  isLoading: boolean;
  refetch: () => unknown;
}

function queryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The server may be this very machine, which answers without any network.
        networkMode: "always",
        refetchOnReconnect: false,
        // A problem that is being read stays; what never changes isn't stale.
        refetchOnWindowFocus: ({ state }) => state.status !== "error",
        retry: isAskedBack,
        retryDelay: pauseBefore,
      },
    },
  });
}

/** The cache for all that is inside. A server that comes back, and a reader who signs in, load again what may have changed. */
export function Queries({ children }: { children: ReactNode }) {
  const [client] = useState(queryClient);
  const { returns } = useConnection();
  const [seen, setSeen] = useState(returns);
  useEffect(() => {
    if (returns === seen) return;
    setSeen(returns);
    void client.refetchQueries({ type: "active", stale: true });
  }, [client, returns, seen]);
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}

/** A question to a worker, asked until one answers; `error` says meanwhile why none does. */
export function useWorkerQuery<T, Key extends QueryKey, Data = T>(
  options: UseQueryOptions<T, ApiError, Data, Key>,
): Loaded<Data> & { isPlaceholderData: boolean } {
  const { data, error, failureReason, isLoading, refetch, isPlaceholderData } = useQuery({
    ...options,
    retry: untilAnswered(),
  });
  const reason = error ?? failureReason;
  return { data, error: reason, isLoading: isLoading && reason === null, refetch, isPlaceholderData };
}
