// A panel's own line to the worker: one question on its way, the newest next, the last answer kept.
import { useCallback, useEffect, useRef, useState } from "react";
import type { ApiError } from "../../api/errors";
import { type Ask, Latest } from "./latest";

export interface Line<In, Out> {
  /** The newest answer of this subject, and the question it answers. */
  data: Out | undefined;
  input: In | undefined;
  error: ApiError | undefined;
  busy: boolean;
  want: (input: In) => void;
}

interface Heard<In, Out> {
  subject: string;
  data?: Out;
  input?: In;
  error?: ApiError | undefined;
}

/** Answers to `want`; another subject (another prompt, say) forgets them and what is on its way. */
export function useLatest<In, Out>(subject: string, ask: Ask<In, Out>): Line<In, Out> {
  const [heard, setHeard] = useState<Heard<In, Out>>({ subject });
  const [busy, setBusy] = useState(false);
  const line = useRef<Latest<In, Out>>(null);
  const asking = useRef(ask);
  asking.current = ask;

  useEffect(() => {
    const latest = new Latest<In, Out>((input, signal) => asking.current(input, signal), {
      onAnswer: (data, input) => setHeard({ subject, data, input }),
      onError: (error, input) =>
        setHeard((last) => ({
          ...(last.subject === subject && last),
          subject,
          input,
          error,
        })),
      onBusy: setBusy,
    });
    line.current = latest;
    return () => latest.drop();
  }, [subject]);

  const want = useCallback((input: In) => line.current?.want(input), []);
  const mine = heard.subject === subject ? heard : undefined;
  return { data: mine?.data, input: mine?.input, error: mine?.error, busy, want };
}
