import type { Run } from "../api/types";
import { HeadTitle } from "../parts/HeadTitle";
import type { Selection } from "../plot/Picture";
import { DEFAULT_LAB } from "../url/lab";
import { Link } from "../url/navigation";
import { headName } from "../url/view";
import type { CircuitsState } from "./AllHeads";
import { CircuitFigure } from "./CircuitFigure";
import { sectionRuns } from "./circuitRuns";
import { HeadScores } from "./HeadScores";

/** The selected head beside the maps: its scores, its spectra, and the way to all that is known of it. */
export function SelectedHead({
  model,
  runs,
  weights,
  view,
  onView,
  selection,
}: CircuitsState & { selection: Selection }) {
  const { head } = view;
  const eigen: Run | undefined = sectionRuns(runs, "eigen", weights).done;
  if (!head) {
    return (
      <section className="card head-card" aria-label="Selected head">
        <h2>No head selected</h2>
        <p className="muted">
          Click a head in any picture, or focus a map and use the arrow keys, to see what it copies, what it
          matches and which heads it reads.
        </p>
      </section>
    );
  }
  return (
    <section className="card head-card" aria-label="Selected head">
      <HeadTitle head={head} onDeselect={() => selection.onSelect(null)} />
      {eigen && <HeadScores run={eigen} head={head} />}
      <div className="card-actions">
        <button type="button" className="button primary" onClick={() => onView({ ...view, tab: "head" })}>
          Open its circuits
        </button>
        <Link
          className="button"
          to={{ page: "lab", ...DEFAULT_LAB, model: model.name, head, mute: headName(head) }}
        >
          Mute it in the lab
        </Link>
      </div>
      {eigen && (
        <div className="bare">
          <CircuitFigure run={eigen} name="spectra" view={view} selection={selection} />
        </div>
      )}
    </section>
  );
}
