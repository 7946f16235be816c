import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { Model } from "../api/types";
import { number } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { Link } from "../url/navigation";

export default function ModelsPage() {
  const models = useQuery(queries.models());
  return (
    <div className="page">
      <h1>Models</h1>
      <p className="facts">
        The models whose heads you can study here. Add more with <code>headscope models fetch</code> or{" "}
        <code>headscope models add</code>.
      </p>
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
