import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { Loaded } from "../api/query";
import type { Figure, Run } from "../api/types";
import { cellValues, isGrid } from "../plot/heads";
import { Picture, type Selection } from "../plot/Picture";
import type { PictureSource } from "../plot/source";
import { WhenSeen } from "../plot/WhenSeen";
import { HeadNotComputed } from "../results/HeadNotComputed";
import { useRunFigure } from "../results/runFigure";
import { type CircuitsView, COMPOSITIONS, type Composition, headName } from "../url/view";

/** Figures that come once for each of Q, K and V: "k-graph". Null for the others. */
export function kindOf(name: string): Composition | null {
  return COMPOSITIONS.find((kind) => name.startsWith(`${kind}-`)) ?? null;
}

/** Whether the threshold decides what a figure shows. */
export function isGraph(name: string): boolean {
  return name.endsWith("-graph");
}

interface CircuitFigureProps {
  run: Run;
  name: string;
  view: CircuitsView;
  selection: Selection;
  /** Say where the run left the head out: once a run is enough. */
  saysLeftOut?: boolean;
}

export function CircuitFigure(props: CircuitFigureProps) {
  return <WhenSeen>{isGraph(props.name) ? <Graph {...props} /> : <Plain {...props} />}</WhenSeen>;
}

function Plain({ run, name, view, selection, saysLeftOut = false }: CircuitFigureProps) {
  const figure = useRunFigure(run, name, null, view.head);
  if (view.head && figure.leftOut) return saysLeftOut ? <HeadNotComputed run={run} head={view.head} /> : null;
  // What an architecture doesn't have is no picture of nothing.
  if (isGrid(figure.data) && cellValues(figure.data).flat().every(Number.isNaN)) return null;
  return <Card run={run} name={name} figure={figure} asked={figure.asked} selection={selection} />;
}

/** Lines between heads: those above the threshold, and of the selected head alone where there is one. */
function Graph({ run, name, view, selection }: CircuitFigureProps) {
  const head = view.head ? headName(view.head) : undefined;
  const asked = { threshold: view.threshold, head };
  const figure = useQuery(queries.figure(run, name, asked));
  return <Card run={run} name={name} figure={figure} asked={asked} selection={selection} />;
}

interface CardProps {
  run: Run;
  name: string;
  figure: Loaded<Figure>;
  asked: { threshold?: number; head?: string | undefined };
  selection: Selection;
}

function Card({ run, name, figure, asked, selection }: CardProps) {
  const meta = figure.data?.layout.meta;
  const wide = meta?.wide === true || (isGrid(figure.data) && Number(meta?.max_width) >= 480);
  const source: PictureSource = {
    run,
    figure: name,
    share: null,
    view: { threshold: 0.5, mode: "every", ...asked },
  };
  return (
    <div className={wide ? "wide" : ""}>
      <Picture title={name.replaceAll(/[-_]/g, " ")} figure={figure} source={source} selection={selection} />
    </div>
  );
}
