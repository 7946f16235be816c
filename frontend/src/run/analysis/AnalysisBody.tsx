import { useCallback, useMemo, useState } from "react";
import type { Analysis, Figure, Run } from "../../api/types";
import { ProblemNote } from "../../parts/ProblemNote";
import { Segmented } from "../../parts/Segmented";
import { isGrid } from "../../plot/heads";
import { Picture, type Selection } from "../../plot/Picture";
import { WhenSeen } from "../../plot/WhenSeen";
import { seedsText, useAnalyses } from "../../results/analyses";
import { Caveats } from "../../results/Caveats";
import { HeadNotComputed } from "../../results/HeadNotComputed";
import { settingsOf } from "../../results/headline";
import { useRunFigure } from "../../results/runFigure";
import { StrengthSlider } from "../../results/StrengthSlider";
import { DEFAULT_VIEW, type Head } from "../../url/view";
import { NextSteps } from "../NextSteps";
import { ReproduceCard } from "../ReproduceCard";
import type { RunBodyProps } from "../RunBody";
import { Disagreements } from "./Disagreements";
import { HeadFacts } from "./HeadFacts";
import { HeadlineCards } from "./HeadlineCards";
import { OfferedGates } from "./OfferedGates";
import { SteeringNote } from "./SteeringNote";

/** A finished run of any analysis: what it says in few words, its figures in order, the selected head. */
export function AnalysisBody({ run, view, onView, share, onRun }: RunBodyProps) {
  const analyses = useAnalyses();
  const analysis = analyses.data?.find(({ name }) => name === run.analysis);
  const onSelect = useCallback((head: Head | null) => onView({ ...view, head }), [onView, view]);
  const selection = { head: view.head, onSelect };
  if (analyses.error && !analyses.data)
    return <ProblemNote error={analyses.error} retry={analyses.refetch} />;
  return (
    <>
      <RunFacts run={run} analysis={analysis} />
      <Caveats runs={[run]} share={share} />
      {share === null && <SteeringNote run={run} />}
      <div className="columns">
        <div className="main-column">
          <HeadlineCards run={run} selection={selection} />
          <div className="pictures">
            {!analysis && (
              <div className="skeleton grid-skeleton wide" role="status" aria-label="Loading the figures" />
            )}
            {analysis?.figures.map((name) => (
              <WhenSeen key={name}>
                <RunFigure
                  run={run}
                  name={name}
                  share={share}
                  selection={selection}
                  threshold={view.threshold}
                  onThreshold={(threshold) => onView({ ...view, threshold }, { replace: true })}
                  saysLeftOut={name === analysis.head_figures[0]}
                />
              </WhenSeen>
            ))}
          </div>
        </div>
        <aside className="side-column" aria-label="Head and run">
          {analysis && (
            <HeadFacts
              run={run}
              figures={analysis.figures}
              following={analysis.head_figures.length > 0}
              share={share}
              selection={selection}
            />
          )}
          {share === null && <OfferedGates run={run} />}
          {share === null && <NextSteps run={run} />}
          <ReproduceCard run={run} share={share} onRun={onRun} />
        </aside>
      </div>
    </>
  );
}

/** What was computed, on what, with which caveats. */
function RunFacts({ run, analysis }: { run: Run; analysis: Analysis | undefined }) {
  const { n_layers: layers, n_heads: heads } = run.model_info ?? {};
  const facts = [
    typeof layers === "number" && typeof heads === "number" && `${layers} layers × ${heads} heads`,
    run.seeds.length > 1 && seedsText(run, analysis),
    ...settingsOf(run),
    run.preset && `${run.preset} preset`,
    run.origin === "gallery" && "shipped result",
  ];
  return (
    <>
      <p className="facts">{facts.filter(Boolean).join(" · ")}</p>
      {analysis && <p className="caption">{analysis.summary}</p>}
    </>
  );
}

interface RunFigureProps {
  run: Run;
  name: string;
  share: string | null;
  selection: Selection;
  threshold: number;
  onThreshold: (threshold: number) => void;
  /** Say where the run left the head out: once a run is enough. */
  saysLeftOut: boolean;
}

type Scale = "linear" | "log";

const SCALES: { value: Scale; text: string; hint?: string }[] = [
  { value: "linear", text: "Linear" },
  { value: "log", text: "Logarithmic", hint: "Spreads out the first heads; 0 can’t be shown" },
];

/** The figure with its x axis, which starts at 0, on another scale. */
export function scaled(figure: Figure, scale: Scale): Figure {
  if (scale === "linear") return figure;
  const axis = figure.layout.xaxis as { range: [number, number] };
  const range = [Math.log10(0.9), Math.log10(axis.range[1])];
  return { ...figure, layout: { ...figure.layout, xaxis: { ...axis, type: "log", range, dtick: "D2" } } };
}

/** One figure; a map of many layers has the whole width. */
function RunFigure({ run, name, share, selection, threshold, onThreshold, saysLeftOut }: RunFigureProps) {
  const asked = useRunFigure(run, name, share, selection.head, threshold);
  const [scale, setScale] = useState<Scale>("linear");
  const drawn = useMemo(() => asked.data && scaled(asked.data, scale), [asked.data, scale]);
  const figure = { ...asked, data: drawn };
  if (figure.leftOut && selection.head && share === null)
    return saysLeftOut ? <HeadNotComputed run={run} head={selection.head} /> : null;
  const { meta } = figure.data?.layout ?? {};
  if (meta?.absent === true) return null; // this run fitted no such thing
  const wide = meta?.wide === true || (isGrid(figure.data) && Number(meta?.max_width) >= 480);
  return (
    <div className={wide ? "wide" : ""}>
      <Disagreements figure={figure.data} selection={selection} />
      <Picture
        title={name.replaceAll(/[-_]/g, " ")}
        figure={figure}
        source={{ run, figure: name, share, view: { mode: DEFAULT_VIEW.mode, ...figure.asked } }}
        selection={selection}
        controls={
          meta?.threshold !== undefined ? (
            <StrengthSlider threshold={threshold} onThreshold={onThreshold} />
          ) : (
            meta?.log_x === true && (
              <Segmented label="Scale of the axis" options={SCALES} value={scale} onChange={setScale} />
            )
          )
        }
      />
    </div>
  );
}
