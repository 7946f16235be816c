import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import { ProblemNote } from "../parts/ProblemNote";
import { useAnalyses } from "../results/analyses";
import { go } from "../url/navigation";
import type { Place } from "../url/view";
import { AnalysisPicker } from "./AnalysisPicker";
import { NewRunForm } from "./NewRunForm";
import "./new-run.css";

/** What to compute, on which model, with which settings. */
export default function NewRunPage({ place }: { place: Extract<Place, { page: "new" }> }) {
  const analyses = useAnalyses();
  const models = useQuery(queries.models());
  const tasks = useQuery(queries.tasks());
  const error = analyses.error ?? models.error ?? tasks.error;
  const analysis = analyses.data?.find(({ name }) => place.analysis === null || name === place.analysis);
  if (!analyses.data || !models.data || !tasks.data) {
    return (
      <div className="page form-page">
        <h1>New run</h1>
        {error ? (
          <ProblemNote
            error={error}
            retry={() => [analyses, models, tasks].forEach(({ refetch }) => void refetch())}
          />
        ) : (
          <div className="skeleton grid-skeleton" role="status" aria-label="Loading the form" />
        )}
      </div>
    );
  }
  return (
    <div className="page form-page">
      <h1>New run</h1>
      {analyses.data.length > 1 && (
        <AnalysisPicker
          analyses={analyses.data}
          value={analysis?.name ?? ""}
          // Another analysis has other settings: only the model and the task go along.
          onPick={(name) => go({ ...place, analysis: name, preset: null, params: {} }, { replace: true })}
        />
      )}
      {analysis ? (
        <NewRunForm
          key={analysis.name}
          place={place}
          analysis={analysis}
          analyses={analyses.data}
          models={models.data}
          tasks={tasks.data}
        />
      ) : (
        <p className="notice">There is no analysis named {place.analysis}: choose one above.</p>
      )}
    </div>
  );
}
