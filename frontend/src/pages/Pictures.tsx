import { useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import { type Resource, useResource } from "../api/resource";
import type { Figure, Run } from "../api/types";
import { Segmented } from "../parts/Segmented";
import { Picture } from "../plot/Picture";
import { curvesTable, mapTable } from "../plot/tables";
import type { Score, View } from "../url/view";

const SCORE_TEXT: { value: Score; text: string; hint: string }[] = [
  { value: "facilitation", text: "Needed", hint: "Facilitation: the gate that was pushed shut, G−" },
  { value: "interference", text: "Harmful", hint: "Interference: 1 − G+, the gate that was pushed open" },
  {
    value: "irrelevance",
    text: "Doesn’t matter",
    hint: "Irrelevance: G+ (1 − G−), goes wherever it is pushed",
  },
];

/** A figure of the run; where the threshold changes it, the last one stays until the next is there. */
function useFigure(run: Run, name: string, share: string | null, threshold?: number): Resource<Figure> {
  const settled = useSettled(threshold, 150);
  const key = `figure ${run.id} ${name} ${settled ?? ""}`;
  const query = settled === undefined ? { share } : { share, threshold: settled };
  const now = useResource(key, (signal) => api.figure(run.id, name, query, signal), { fixed: true });
  const last = useRef<Figure>(undefined);
  useEffect(() => {
    if (now.data) last.current = now.data;
  }, [now.data]);
  return now.data || now.error ? now : { ...now, data: last.current, loading: last.current === undefined };
}

/** The value once it has rested for `ms`. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

interface PicturesProps {
  run: Run;
  view: View;
  onView: (view: View) => void;
  share: string | null;
}

/** The pictures below the grid. */
export function Pictures({ run, view, onView, share }: PicturesProps) {
  const { threshold, score, mode } = view;
  const ecdf = useFigure(run, "ecdf", share, threshold);
  const layers = useFigure(run, "layers", share, threshold);
  const map = useFigure(run, score, share);
  const loss = useFigure(run, "loss", share);
  const heldout = useFigure(run, "heldout", share);
  const source = (figure: string) => ({ run: run.id, figure, share, view: { threshold, mode } });
  return (
    <div className="pictures">
      <Picture
        title="How many heads have a score this high?"
        figure={ecdf}
        table={curvesTable}
        source={source("ecdf")}
        caption="Share of heads at or above each score; the band is the lowest and the highest seed, the dotted line the threshold."
      />
      <Picture
        title="Roles through the layers"
        figure={layers}
        table={curvesTable}
        source={source("layers")}
        caption="Share of seeds × heads in each role."
      />
      <section className="wide" aria-label="Score maps">
        <div className="section-head">
          <h2>Scores of each head</h2>
          <Segmented
            label="Score"
            options={SCORE_TEXT}
            value={score}
            onChange={(next) => onView({ ...view, score: next })}
          />
        </div>
        <Picture
          title={SCORE_TEXT.find((option) => option.value === score)?.hint ?? score}
          figure={map}
          table={(figure) => mapTable(figure, score)}
          source={source(score)}
          caption="Mean over the seeds, from 0 to 1."
        />
      </section>
      <Picture
        title="Held out: before and after"
        figure={heldout}
        table={curvesTable}
        source={source("heldout")}
        caption="On examples the gates were not fitted on: the model as it is, with harmful heads shut (G+), and with only needed heads left open (G−)."
      />
      <Picture
        title="Loss while the gates were fitted"
        figure={loss}
        table={curvesTable}
        source={source("loss")}
        caption="Nats per target token on the training batches, for the three phases; thin lines are single seeds."
      />
    </div>
  );
}
