import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { useRun } from "../api/live";
import { queries } from "../api/queries";
import { NotFoundPage } from "../parts/NotFoundPage";
import { ProblemNote } from "../parts/ProblemNote";
import { useDeclareSubject } from "../parts/subject";
import { usePlotly } from "../plot/plotly";
import { hasResult } from "../results/hasResult";
import { RunSkeleton } from "../results/RunSkeleton";
import { RunState } from "../results/RunState";
import { analysisTitle, RunHeading, titleText, titleWords } from "../results/RunTitle";
import { go } from "../url/navigation";
import { formatPlace, type Place, type View } from "../url/view";
import { RunBody } from "./RunBody";

export default function RunPage({ place }: { place: Extract<Place, { page: "run" }> }) {
  usePlotly();
  const { id, view } = place;
  const { data: run, error, refetch, set } = useRun(id);
  const model = useQuery({ ...queries.model(run?.model ?? ""), enabled: run !== undefined });
  const onView = useCallback(
    (next: View, options?: { replace?: boolean }) => go({ page: "run", id, view: next }, options),
    [id],
  );
  useDeclareSubject(run, view, null, formatPlace({ page: "run", id, view }).split("?")[0] ?? "");
  const words = run ? titleWords(run, model.data) : null;
  const title = words && titleText(words);
  useEffect(() => {
    if (title) document.title = `${title} · Headscope`;
  }, [title]);

  if (error?.status === 404)
    return <NotFoundPage what={error.problem.detail} remedy={error.problem.remedy} />;
  if (!run || !words) {
    return (
      <div className="page">{error ? <ProblemNote error={error} retry={refetch} /> : <RunSkeleton />}</div>
    );
  }
  return (
    <div className="page">
      <RunHeading run={run} words={words} />
      {run.model_note && <p className="facts">{run.model_note}</p>}
      {run.status !== "done" && (
        <>
          {!run.partial && (
            <p className="facts">
              {analysisTitle(run)} {run.preset && `· ${run.preset} preset`}
            </p>
          )}
          <RunState run={run} onRun={set} readOnly={false} />
        </>
      )}
      {hasResult(run) && (
        <RunBody key={run.result} run={run} view={view} onView={onView} share={null} onRun={set} />
      )}
    </div>
  );
}
