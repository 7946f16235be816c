import type { ReactNode } from "react";
import type { Run } from "../../api/types";
import { ProblemNote } from "../../parts/ProblemNote";
import { useStartFits } from "./useStartFits";

interface AnotherFitProps {
  run: Run;
  /** Settings that differ from the run's. */
  change: Record<string, unknown>;
  /** What it takes and gives. */
  title: string;
  children: ReactNode;
}

/** A button that starts a run like this one but for a setting, and goes to it. */
export function AnotherFit({ run, change, title, children }: AnotherFitProps) {
  const { start, busy, error } = useStartFits(run);
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={busy}
        title={title}
        onClick={() => void start(change)}
      >
        {children}
      </button>
      {error && <ProblemNote error={error} />}
    </>
  );
}
