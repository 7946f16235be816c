// Tokens while someone types: asked when the keys rest, the newest counts. No worker and no device is waited for.
import { useEffect, useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { labApi } from "../../api/lab";
import type { Tokenized } from "../../api/labTypes";

const RESTS = 120;

export interface Typed {
  /** Of the last text that was answered; the current one may be newer. */
  data: Tokenized | undefined;
  error: ApiError | undefined;
  /** The answer is of the text as it stands. */
  current: boolean;
}

export function useTokenized(model: string, text: string, bos: boolean | null): Typed {
  const key = JSON.stringify([model, text, bos]);
  const [heard, setHeard] = useState<{ key: string; data?: Tokenized; error?: ApiError }>();
  useEffect(() => {
    const [model, text, bos] = JSON.parse(key) as [string, string, boolean | null];
    if (text === "" || model === "") return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      labApi.tokenize(model, text, bos, controller.signal).then(
        (data) => controller.signal.aborted || setHeard({ key, data }),
        (error: unknown) => controller.signal.aborted || setHeard({ key, error: asApiError(error) }),
      );
    }, RESTS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key]);
  if (text === "") return { data: undefined, error: undefined, current: true };
  return { data: heard?.data, error: heard?.error, current: heard?.key === key };
}
