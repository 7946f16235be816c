import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import type { LabShareRequest } from "../api/labTypes";
import type { Run } from "../api/types";
import type { CompareView } from "../url/compare";
import type { View } from "../url/view";

/** A run, as it is looked at. */
export interface RunSubject {
  kind: "run";
  run: Run;
  view: View;
  /** The share through which a guest reads. */
  share: string | null;
  /** The page a share opens. */
  path: string;
}

/** A prompt in the lab with the current gates. */
export interface LabSubject {
  kind: "lab";
  /** What a share keeps; null where this is a shared view itself. */
  lab: LabShareRequest | null;
  /** How it is looked at, as URL parameters. */
  view: Record<string, string>;
  /** What the header offers as files. */
  files: readonly { title: string; save: () => void }[];
}

/** Several runs side by side, and how they are looked at. */
export interface CompareSubject {
  kind: "compare";
  runs: readonly string[];
  comparison: CompareView;
  /** The share through which a guest reads. */
  share: string | null;
}

/** What the header's Export and Share are about. */
export type Subject = RunSubject | LabSubject | CompareSubject;

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

/** Say what this page is about; it is forgotten when the page goes. `subject` is the same object until it changes. */
export function useDeclare(subject: Subject | null): void {
  const write = useContext(Write);
  useEffect(() => {
    write(subject);
    return () => write(null);
  }, [write, subject]);
}

/** A run's page says so with this. */
export function useDeclareSubject(
  run: Run | undefined,
  view: View,
  share: string | null,
  path: string,
): void {
  useDeclare(
    useMemo<Subject | null>(
      () => (run ? { kind: "run", run, view, share, path } : null),
      [run, view, share, path],
    ),
  );
}
