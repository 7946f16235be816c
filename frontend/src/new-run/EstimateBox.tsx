import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { queries } from "../api/queries";
import type { Estimate, RunRequest } from "../api/types";
import { bytes, duration } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { Words } from "../parts/Words";
import { Link } from "../url/navigation";
import { DEFAULT_VIEW } from "../url/view";

/** What the server says of settings that nobody has finished yet: a hint, not a fault. */
const UNFINISHED = new Set(["nothing-to-compare", "no-evidence", "heads-missing"]);

interface EstimateBoxProps {
  request: RunRequest;
  valid: boolean;
  /** Whether the model is here: nothing can be said before. */
  asked: boolean;
}

/** What the run will take, asked for once typing rests. */
export function EstimateBox({ request, valid, asked }: EstimateBoxProps) {
  const wanted = valid ? JSON.stringify(request) : null;
  const [settled, setSettled] = useState(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wanted), 350);
    return () => clearTimeout(timer);
  }, [wanted]);
  const estimate = useQuery({
    ...queries.estimate(settled === null ? request : (JSON.parse(settled) as RunRequest)),
    enabled: valid && asked && settled !== null,
  });
  return (
    <section
      className="estimate"
      aria-label="What it will take"
      aria-live="polite"
      aria-busy={settled !== wanted || estimate.isLoading}
    >
      {!valid && <p className="muted">The estimate appears once the settings above are valid.</p>}
      {estimate.error && UNFINISHED.has(estimate.error.code) && (
        <p className="muted">
          <Words text={`${estimate.error.problem.detail} ${estimate.error.problem.remedy ?? ""}`} />
        </p>
      )}
      {estimate.error && !UNFINISHED.has(estimate.error.code) && (
        // Settings that can't be used stay so however often they are sent.
        <ProblemNote
          error={estimate.error}
          retry={estimate.error.status === 422 ? undefined : estimate.refetch}
        />
      )}
      {estimate.isLoading && <div className="skeleton text" />}
      {estimate.data && <EstimateFacts estimate={estimate.data} />}
    </section>
  );
}

const EXISTING = {
  done: "This run is already done: starting it opens its result.",
  queued: "This run is already queued: starting it opens it.",
  running: "This run is already under way: starting it opens it.",
  failed: "This run failed before: starting it retries from its last finished piece.",
  cancelled: "This run was cancelled before: starting it resumes from its last finished piece.",
} as const;

function EstimateFacts({ estimate }: { estimate: Estimate }) {
  return (
    <>
      <p>
        About <strong>{duration(estimate.seconds)}</strong> and <strong>{bytes(estimate.peak_bytes)}</strong>{" "}
        of memory
        {estimate.queue ? ` on a ${estimate.queue} worker` : ""}.{" "}
        <span className="muted">{estimate.basis}</span>
      </p>
      {estimate.refused && <ProblemNote problem={estimate.refused} />}
      {estimate.existing && (
        <p className="notice">
          {EXISTING[estimate.existing]}{" "}
          <Link to={{ page: "run", id: estimate.run_id, view: DEFAULT_VIEW }}>Open it</Link>
        </p>
      )}
    </>
  );
}
