import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { queries } from "../api/queries";
import type { Model } from "../api/types";
import { number } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { Link } from "../url/navigation";
import { AddModel } from "./AddModel";
import "./models.css";

export default function ModelsPage() {
  const models = useQuery(queries.models());
  const [adding, setAdding] = useState(false);
  return (
    <div className="page">
      <div className="section-head">
        <h1>Models</h1>
        <button
          type="button"
          className="button primary"
          aria-expanded={adding}
          onClick={() => setAdding(!adding)}
        >
          Add a model
        </button>
      </div>
      <p className="facts">The models whose heads you can study here.</p>
      {adding && <AddModel />}
      {models.error && <ProblemNote error={models.error} retry={models.refetch} />}
      {models.isLoading && (
        <div className="skeleton list-skeleton" role="status" aria-label="Loading the models" />
      )}
      <ul className="tile-list">
        {models.data?.map((model) => (
          <li key={model.name}>
            <Link className="card tile" to={{ page: "model", name: model.name }}>
              <strong>{model.title}</strong>
              <span className="muted">
                {model.summary} {model.note}
              </span>
              <span className="muted small">{shape(model)}</span>
              <span className={`status status-${model.ready ? "done" : "queued"}`}>
                {model.ready ? "ready" : "not here yet"}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function shape(model: Model): string {
  return [
    model.n_layers !== null && model.n_heads !== null && `${model.n_layers} layers × ${model.n_heads} heads`,
    model.n_params !== null && `${number(model.n_params / 1e6)} M parameters`,
    model.licence,
  ]
    .filter(Boolean)
    .join(" · ");
}
