import { useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import type { Analysis, Model, Run } from "../api/types";
import { plural } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { Segmented } from "../parts/Segmented";
import type { Selection } from "../plot/Picture";
import { StrengthSlider } from "../results/StrengthSlider";
import type { CircuitsView, Head } from "../url/view";
import { CircuitFigure, isGraph, kindOf } from "./CircuitFigure";
import { fits, sectionRequest, sectionRuns } from "./circuitRuns";
import { Section } from "./Section";
import { SelectedHead } from "./SelectedHead";
import { VirtualWeights } from "./VirtualWeights";

export interface CircuitsState {
  model: Model;
  /** The page's analyses, in order. */
  sections: Analysis[];
  runs: Run[];
  weights: string | null;
  view: CircuitsView;
  onView: (view: CircuitsView, options?: { replace?: boolean }) => void;
  reload: () => void;
}

const KINDS = [
  { value: "k", text: "Keys", hint: "K composition: what a later head's keys read" },
  { value: "q", text: "Queries", hint: "Q composition: what a later head's queries read" },
  { value: "v", text: "Values", hint: "V composition: what a later head's values read" },
] as const;

/** Every analysis of the model, one below the other. */
export function AllHeads(state: CircuitsState) {
  const { model, sections, runs, weights, view, onView, reload } = state;
  const selection = {
    head: view.head,
    onSelect: (head: Head | null) => onView({ ...view, head, token: null }),
  };
  const missing = sections.filter((analysis) => {
    const { done, open } = sectionRuns(runs, analysis.name, weights);
    return !done && !open && fits(analysis, weights);
  });
  return (
    <div className="columns">
      <div className="main-column">
        {model.ready && missing.length > 1 && (
          <ComputeAll analyses={missing} model={model.name} weights={weights} onStarted={reload} />
        )}
        {sections.map((analysis) => (
          <Section
            key={analysis.name}
            analysis={analysis}
            model={model.name}
            weights={weights}
            runs={sectionRuns(runs, analysis.name, weights)}
            view={view}
            reload={reload}
          >
            {(run) => (
              <>
                {analysis.figures.some(isGraph) && <GraphControls view={view} onView={onView} />}
                <Figures analysis={analysis} run={run} view={view} selection={selection} />
              </>
            )}
          </Section>
        ))}
        {model.n_layers !== null && model.n_heads !== null && (
          <VirtualWeights
            model={model.name}
            layers={model.n_layers}
            heads={model.n_heads}
            weights={weights}
            view={view}
            onView={onView}
          />
        )}
      </div>
      <aside className="side-column" aria-label="Selected head">
        <SelectedHead {...state} selection={selection} />
      </aside>
    </div>
  );
}

/** So many pictures of a section are there at once; the others fold away. */
const SHOWN = 3;

interface FiguresProps {
  analysis: Analysis;
  run: Run;
  view: CircuitsView;
  selection: Selection;
}

/** An analysis' pictures of all heads, of the chosen composition. */
function Figures({ analysis, run, view, selection }: FiguresProps) {
  const [open, setOpen] = useState(false);
  const names = analysis.figures.filter(
    (name) => !analysis.head_figures.includes(name) && [null, view.composition].includes(kindOf(name)),
  );
  const figure = (name: string) => (
    <CircuitFigure key={name} run={run} name={name} view={view} selection={selection} />
  );
  return (
    <>
      <div className="pictures">{names.slice(0, SHOWN).map(figure)}</div>
      {names.length > SHOWN && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>{plural(names.length - SHOWN, "more picture")}</summary>
          {open && <div className="pictures folded">{names.slice(SHOWN).map(figure)}</div>}
        </details>
      )}
    </>
  );
}

/** Which input of the later head reads, and how strong a pair must be to be drawn. */
function GraphControls({ view, onView }: Pick<CircuitsState, "view" | "onView">) {
  return (
    <div className="controls graph-controls">
      <Segmented
        label="Which input of the later head reads"
        options={KINDS}
        value={view.composition}
        onChange={(composition) => onView({ ...view, composition })}
      />
      <StrengthSlider
        threshold={view.threshold}
        onThreshold={(threshold) => onView({ ...view, threshold }, { replace: true })}
      />
    </div>
  );
}

interface ComputeAllProps {
  analyses: Analysis[];
  model: string;
  weights: string | null;
  onStarted: () => void;
}

/** Start all that is missing; what a model refuses is said in its own section. */
function ComputeAll({ analyses, model, weights, onStarted }: ComputeAllProps) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    setError(undefined);
    const started = await Promise.allSettled(
      analyses.map((analysis) => api.startRun(sectionRequest(analysis, model, weights))),
    );
    const failed = started.find((one) => one.status === "rejected");
    if (failed && started.every((one) => one.status === "rejected")) setError(asApiError(failed.reason));
    setBusy(false);
    onStarted();
  };
  return (
    <div className="card compute-all">
      <p>
        {analyses.length} of the analyses below are not computed yet; on a small model each takes seconds.
      </p>
      <button type="button" className="button primary" disabled={busy} onClick={() => void start()}>
        Compute what is missing
      </button>
      {error && <ProblemNote error={error} />}
    </div>
  );
}
