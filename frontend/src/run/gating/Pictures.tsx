import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type FigureView, queries } from "../../api/queries";
import type { Loaded } from "../../api/query";
import type { Figure, MapWords, Run } from "../../api/types";
import { Segmented } from "../../parts/Segmented";
import { Picture } from "../../plot/Picture";
import { capital } from "../../plot/roles";
import type { Score, View } from "../../url/view";

const SCORES: { value: Score; hint: string }[] = [
  { value: "facilitation", hint: "Facilitation: G−, the gate that was pushed shut" },
  { value: "interference", hint: "Interference: 1 − G+, the gate that was pushed open" },
  { value: "irrelevance", hint: "Irrelevance: G+ (1 − G−), goes wherever it is pushed" },
];

/** A figure of the run, as the view is once it rests; `enabled` where it may be asked for. */
export function useFigure(
  run: Run,
  name: string,
  share: string | null,
  view: Pick<FigureView, "threshold" | "mode"> = {},
  enabled = true,
): Loaded<Figure> {
  const settled = JSON.parse(useSettled(JSON.stringify(view), 150)) as typeof view;
  return useQuery({ ...queries.figure(run, name, { share, ...settled }), enabled });
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

interface PictureProps {
  run: Run;
  view: View;
  onView: (view: View) => void;
  share: string | null;
  words: MapWords;
}

/** One score of every head, and the switch between the three. */
export function ScoreMap({ run, view, onView, share, words }: PictureProps) {
  const { threshold, score, mode } = view;
  const map = useFigure(run, score, share, { mode });
  return (
    <Picture
      title="Scores of each head"
      figure={map}
      source={{ run, figure: score, share, view: { threshold, mode } }}
      selection={{
        head: view.head,
        onSelect: (head) => onView({ ...view, head, passport: head !== null && view.passport }),
      }}
      controls={
        <Segmented
          label="Score"
          options={SCORES.map((one) => ({ ...one, text: capital(words.scores[one.value]) }))}
          value={score}
          onChange={(next) => onView({ ...view, score: next })}
        />
      }
    />
  );
}

/** The pictures below the grid. */
export function Pictures({
  withMap,
  seeds,
  replication,
  ...props
}: PictureProps & { withMap: boolean; seeds: Loaded<Figure>; replication: Loaded<Figure> }) {
  const { run, view, share } = props;
  const { threshold, mode } = view;
  const source = (figure: string) => ({ run, figure, share, view: { threshold, mode } });
  const permuted = Number(run.params.null_fits) > 0;
  const discoveries = useFigure(run, "discoveries", share, { threshold }, permuted);
  const ecdf = useFigure(run, "ecdf", share, { threshold });
  const layers = useFigure(run, "layers", share, { threshold });
  const heldout = useFigure(run, "heldout", share);
  const loss = useFigure(run, "loss", share);
  return (
    <div className="pictures">
      <div className="wide">
        <Picture title="Would a new fit say the same?" figure={replication} source={source("replication")} />
      </div>
      {permuted && (
        <div className="wide">
          <Picture
            title="Is it more than any targets would give?"
            figure={discoveries}
            source={source("discoveries")}
          />
        </div>
      )}
      <div className="wide">
        <Picture title="How do the shares move with more seeds?" figure={seeds} source={source("seeds")} />
      </div>
      <Picture title="How many heads have a score this high?" figure={ecdf} source={source("ecdf")} />
      <Picture title="Roles through the layers" figure={layers} source={source("layers")} />
      {withMap && (
        <div className="wide">
          <ScoreMap {...props} />
        </div>
      )}
      <Picture title="Does it hold on new examples?" figure={heldout} source={source("heldout")} />
      <Picture title="Loss while the gates were fitted" figure={loss} source={source("loss")} />
    </div>
  );
}
