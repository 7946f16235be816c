import type { Run } from "../api/types";
import type { View } from "../url/view";
import { AnalysisBody } from "./analysis/AnalysisBody";
import { GatingBody } from "./gating/GatingBody";
import "./run.css";
import "./gating/gating.css";
import "./analysis/analysis.css";

export interface RunBodyProps {
  run: Run;
  view: View;
  /** Put a view into the address; `replace` for what a slider passes through. */
  onView: (view: View, options?: { replace?: boolean }) => void;
  /** The share through which a guest reads. */
  share: string | null;
  onRun: (run: Run) => void;
}

/** A finished run. Gates have a grid that follows the threshold; every other analysis tells its own figures. */
export function RunBody(props: RunBodyProps) {
  return props.run.has_roles ? <GatingBody {...props} /> : <AnalysisBody {...props} />;
}
