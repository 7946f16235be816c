import { type ReactNode, useEffect, useState } from "react";

/** True once `busy` has lasted: what is quick doesn't flicker. */
export function useLate(busy: boolean, after = 150): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!busy) {
      setLate(false);
      return;
    }
    const timer = setTimeout(() => setLate(true), after);
    return () => clearTimeout(timer);
  }, [busy, after]);
  return late;
}

/** What is shown while newer numbers are on their way: dimmed after a moment. */
export function Late({ busy, children }: { busy: boolean; children: ReactNode }) {
  const late = useLate(busy);
  return (
    <div className={late ? "answered late" : "answered"} aria-busy={busy}>
      {children}
    </div>
  );
}
