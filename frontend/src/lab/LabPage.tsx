import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import { ProblemNote } from "../parts/ProblemNote";
import type { Place } from "../url/view";
import { LabBody } from "./LabBody";
import { LabSkeleton } from "./LabSkeleton";
import { LabProvider } from "./state/LabProvider";

/** The prompt lab: a prompt's tokens and every head's pattern on it; beside them the gates, and what they do. */
export default function LabPage({ place }: { place: Extract<Place, { page: "lab" }> }) {
  const models = useQuery(queries.models());
  if (models.data) {
    return (
      <LabProvider place={place} models={models.data}>
        <LabBody />
      </LabProvider>
    );
  }
  return (
    <div className="page">
      {models.error ? <ProblemNote error={models.error} retry={models.refetch} /> : <LabSkeleton />}
    </div>
  );
}
