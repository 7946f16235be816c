import type { ApiError } from "../api/errors";
import type { Problem } from "../api/types";
import { Words } from "./Words";

interface ProblemNoteProps {
  error?: ApiError | null | undefined;
  problem?: Problem;
  retry?: (() => unknown) | undefined;
  retryLabel?: string;
}

/** What went wrong and what to do, with a retry where one makes sense. */
export function ProblemNote({
  error,
  problem = error?.problem,
  retry,
  retryLabel = "Try again",
}: ProblemNoteProps) {
  if (!problem) return null;
  return (
    <div className="problem" role="alert">
      <p className="problem-detail">
        <Words text={problem.detail} />
      </p>
      {problem.remedy && (
        <p className="problem-remedy">
          <Words text={problem.remedy} />
        </p>
      )}
      {retry && (
        <button type="button" className="button" onClick={() => void retry()}>
          {retryLabel}
        </button>
      )}
    </div>
  );
}
