import type { Check, Model, Proof } from "../api/types";
import { number } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { Proved, useProving } from "../results/Proved";

/** What the model gives, and the checks against the plain model that say so. */
export function ProofCard({ model }: { model: Model }) {
  const proving = useProving(model.name);
  if (!model.ready) return null;
  if (!model.proof) {
    return (
      <section className="card" aria-label="What it gives">
        <Proved model={model} />
      </section>
    );
  }
  const { capabilities, checks, dtype, seconds } = model.proof;
  return (
    <section className="card proof" aria-label="What it gives">
      <h2>What it gives</h2>
      <ul className="proof-capabilities">
        {capabilities.map((capability) => (
          <Capability key={capability.name} {...capability} />
        ))}
      </ul>
      <details>
        <summary>Checks against the plain model</summary>
        <div className="table-box">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Check</th>
                <th scope="col">Largest difference</th>
                <th scope="col">Verdict</th>
              </tr>
            </thead>
            <tbody>
              {checks.map((check) => (
                <CheckRow key={check.name} {...check} />
              ))}
            </tbody>
          </table>
        </div>
        <p className="muted small">
          In {dtype}, in {number(seconds)} s; up to {checks[0] ? checks[0].tolerance.toExponential(0) : "–"}{" "}
          is allowed.
        </p>
        <button
          type="button"
          className="button"
          disabled={proving.isPending}
          onClick={() => proving.mutate({ anew: true })}
        >
          {proving.isPending ? "Checking…" : "Check again"}
        </button>
        <ProblemNote error={proving.error ?? proving.failureReason} />
      </details>
    </section>
  );
}

/** A capability, whether the model has it, and why not or with which limits. */
export function Capability({ title, has, reason, limits }: Proof["capabilities"][number]) {
  return (
    <li>
      <span className={`status status-${has ? "done" : "failed"}`}>{has ? "yes" : "no"}</span>
      <span>
        {title}
        {reason && <span className="muted small">: {reason}</span>}
        {limits.map((limit) => (
          <span className="muted small" key={limit}>
            {" "}
            {limit}
          </span>
        ))}
      </span>
    </li>
  );
}

function CheckRow({ title, difference, verdict, detail }: Check) {
  return (
    <tr>
      <th scope="row">{title}</th>
      <td className="number">{difference === null ? "–" : difference.toExponential(1)}</td>
      <td>
        {verdict}
        {detail && <span className="muted small">: {detail}</span>}
      </td>
    </tr>
  );
}
