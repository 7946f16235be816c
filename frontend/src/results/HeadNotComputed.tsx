import type { Run } from "../api/types";
import { Link } from "../url/navigation";
import { type Head, headName, NEW_RUN } from "../url/view";
import { analysisTitle } from "./RunTitle";

/** A run over chosen heads that this one isn't among, and the way to one that has it. */
export function HeadNotComputed({ run, head }: { run: Run; head: Head }) {
  const params = { ...(run.params as Record<string, string>), heads: headName(head) };
  const named = Object.entries(params).filter(([name]) => name === "heads" || name === "weight_processing");
  return (
    <div className="card missing wide">
      <p className="muted">
        {analysisTitle(run)}: not computed for head {headName(head)}.
      </p>
      <Link
        className="button"
        to={{
          page: "new",
          ...NEW_RUN,
          analysis: run.analysis,
          model: run.model,
          preset: run.preset,
          params: Object.fromEntries(named),
        }}
      >
        Compute it for this head
      </Link>
    </div>
  );
}
