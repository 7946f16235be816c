import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { queries } from "../api/queries";
import type { Analysis, Model, Run } from "../api/types";
import { ProblemNote } from "../parts/ProblemNote";
import { NotHereYet } from "../parts/Remedy";
import { Segmented } from "../parts/Segmented";
import { usePlotly } from "../plot/plotly";
import { useAnalyses } from "../results/analyses";
import { Caveats } from "../results/Caveats";
import { go } from "../url/navigation";
import { type CircuitsView, headName, type Place } from "../url/view";
import { AllHeads } from "./AllHeads";
import { chosenWeights, processings, SECTIONS, sectionRuns, useCircuitRuns } from "./circuitRuns";
import { HeadCircuit } from "./HeadCircuit";
import "./circuits.css";

type CircuitsPlace = Extract<Place, { page: "circuits" }>;

/** What a model's weights say: of all heads, or of one. */
export default function CircuitsPage({ place }: { place: CircuitsPlace }) {
  usePlotly();
  const models = useQuery(queries.models());
  const analyses = useAnalyses();
  const error = models.error ?? analyses.error;
  const model = models.data?.find(({ name }) => name === (place.model ?? defaultModel(models.data)));
  if (!models.data || !analyses.data) {
    return (
      <div className="page">
        <h1>Circuits</h1>
        {error ? (
          <ProblemNote
            error={error}
            retry={() => [models, analyses].forEach(({ refetch }) => void refetch())}
          />
        ) : (
          <div className="skeleton grid-skeleton" role="status" aria-label="Loading the circuits" />
        )}
      </div>
    );
  }
  if (!model) {
    return (
      <div className="page narrow">
        <h1>Circuits</h1>
        <p className="muted">
          {place.model === null
            ? "There are no models here yet: add one with `headscope models fetch`."
            : `There is no model named ${place.model} here.`}
        </p>
      </div>
    );
  }
  return <Circuits place={place} model={model} models={models.data} analyses={analyses.data} />;
}

/** A newcomer sees the small model whose circuit is known; it is there at once. */
function defaultModel(models: readonly Model[] | undefined): string | undefined {
  const ready = models?.filter((model) => model.ready) ?? [];
  return (ready.find(({ source }) => source === "package") ?? ready[0] ?? models?.[0])?.name;
}

interface CircuitsProps {
  place: CircuitsPlace;
  model: Model;
  models: Model[];
  analyses: Analysis[];
}

function Circuits({ place, model, models, analyses }: CircuitsProps) {
  const view = place.circuits;
  const runs = useCircuitRuns(model.name);
  const sections = SECTIONS.flatMap((name) => analyses.find((analysis) => analysis.name === name) ?? []);
  const known = [...new Set(sections.flatMap(processings))];
  const all: Run[] = runs.data?.runs ?? [];
  const weights = chosenWeights(view.weights, all, known);
  const onView = (next: CircuitsView, options?: { replace?: boolean }) =>
    go({ page: "circuits", model: model.name, circuits: next }, options);
  const title = `Circuits of ${model.title}`;
  useEffect(() => {
    document.title = `${title} · Headscope`;
  }, [title]);
  const shared = { model, sections, runs: all, weights, view, onView, reload: () => void runs.refetch() };
  return (
    <div className="page circuits">
      <div className="section-head">
        <h1 className="pickers">
          Circuits of{" "}
          <span className="picker">
            <select
              aria-label="Model"
              value={model.name}
              onChange={({ target }) =>
                go({
                  page: "circuits",
                  model: target.value,
                  circuits: { ...view, head: null, tab: "heads", token: null, virtual: null },
                })
              }
            >
              {models.map(({ name, title: text }) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
            </select>
          </span>
        </h1>
        <div className="circuit-controls">
          {view.head && (
            <Segmented
              label="What is shown"
              options={[
                { value: "heads", text: "All heads" },
                { value: "head", text: `Head ${headName(view.head)}` },
              ]}
              value={view.tab}
              onChange={(tab) => onView({ ...view, tab })}
            />
          )}
          {known.length > 1 && (
            <Segmented
              label="Weight processing"
              options={known.map((value) => ({ value, text: `${value} weights`, hint: HINTS[value] ?? "" }))}
              value={weights ?? ""}
              onChange={(value) => onView({ ...view, weights: value })}
            />
          )}
        </div>
        {model.note && <p className="facts">{model.note}</p>}
      </div>
      <p className="facts">
        How its heads work, read from its weights
        {model.n_layers !== null && ` · ${model.n_layers} layers × ${model.n_heads} heads`}
        {weights !== null && ` · ${weights} weights`}
      </p>
      {!model.ready && <NotHereYet name={model.title} remedy={model.remedy} />}
      {runs.error && !runs.data ? (
        <ProblemNote error={runs.error} retry={runs.refetch} />
      ) : !runs.data ? (
        <div className="skeleton grid-skeleton" role="status" aria-label="Loading the circuits" />
      ) : (
        <>
          <Caveats runs={sections.flatMap(({ name }) => sectionRuns(all, name, weights).done ?? [])} />
          {view.tab === "head" && view.head ? (
            <HeadCircuit {...shared} head={view.head} />
          ) : (
            <AllHeads {...shared} />
          )}
        </>
      )}
    </div>
  );
}

const HINTS: Record<string, string> = {
  folded: "Norm weights are folded into the matrices that read the residual stream",
  raw: "As the model stores them, norm weights apart",
};
