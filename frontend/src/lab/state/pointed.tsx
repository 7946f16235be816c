// The token under the pointer or the keys, shared by the text and the large pattern. It changes with every
// movement, so it stays apart from what is selected, and parts that need it alone hear of it.
import { createContext, type ReactNode, useContext, useMemo, useState } from "react";

interface Pointed {
  token: number | null;
  point: (token: number | null) => void;
}

const Context = createContext<Pointed>({ token: null, point: () => {} });

export function PointedProvider({ children }: { children: ReactNode }) {
  const [token, point] = useState<number | null>(null);
  const state = useMemo(() => ({ token, point }), [token]);
  return <Context.Provider value={state}>{children}</Context.Provider>;
}

export function usePointed(): Pointed {
  return useContext(Context);
}
