import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import type { Run } from "../api/types";
import type { View } from "../url/view";

/** What the header's Export and Share are about: the run a page shows, as it is looked at. */
export interface Subject {
  run: Run;
  view: View;
  /** The share through which a guest reads. */
  share: string | null;
  /** The page a share opens. */
  path: string;
}

const Read = createContext<Subject | null>(null);
const Write = createContext<(subject: Subject | null) => void>(() => {});

export function SubjectProvider({ children }: { children: ReactNode }) {
  const [subject, setSubject] = useState<Subject | null>(null);
  return (
    <Write.Provider value={setSubject}>
      <Read.Provider value={subject}>{children}</Read.Provider>
    </Write.Provider>
  );
}

export function useSubject(): Subject | null {
  return useContext(Read);
}

/** Say what this page is about; it is forgotten when the page goes. */
export function useDeclareSubject(
  run: Run | undefined,
  view: View,
  share: string | null,
  path: string,
): void {
  const write = useContext(Write);
  const subject = useMemo(() => (run ? { run, view, share, path } : null), [run, view, share, path]);
  useEffect(() => {
    write(subject);
    return () => write(null);
  }, [write, subject]);
}
