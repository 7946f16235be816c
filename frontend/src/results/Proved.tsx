import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import { queries } from "../api/queries";
import { pauseBefore, untilAnswered } from "../api/retry";
import type { Analysis, Model, Proof } from "../api/types";
import { ProblemNote } from "../parts/ProblemNote";

/** What of a model an analysis would need and was found wrong; without logits nothing is left. */
export function lostFor(analysis: Pick<Analysis, "needs">, model: Model | undefined): Proof["capabilities"] {
  const needed = (name: string) => name === "logits" || (analysis.needs as string[]).includes(name);
  return model?.proof?.capabilities.filter(({ name, has }) => !has && needed(name)) ?? [];
}

/** Has a worker prove a model, however long it loads it; the answer is the model's from then on. */
export function useProving(name: string) {
  const cache = useQueryClient();
  return useMutation<Proof, ApiError, { anew: boolean }>({
    mutationFn: ({ anew }) =>
      api.checkModel(name, anew).catch((thrown: unknown) => {
        throw asApiError(thrown);
      }),
    retry: untilAnswered(),
    retryDelay: pauseBefore,
    onSuccess: () => cache.invalidateQueries({ queryKey: queries.models().queryKey }),
  });
}

/** What a model was proved to give, in a sentence; where nobody proved it, a button that does. */
export function Proved({ model }: { model: Model }) {
  const proving = useProving(model.name);
  if (!model.ready) return null;
  if (!model.proof) {
    return (
      <div className="facts" role="note" aria-label="Proof">
        Whether this model is read right isn’t known yet: its first load tells.{" "}
        <button
          type="button"
          className="link-button"
          disabled={proving.isPending}
          onClick={() => proving.mutate({ anew: false })}
        >
          {proving.isPending ? "Checking…" : "Check it now"}
        </button>
        <ProblemNote error={proving.error ?? proving.failureReason} />
      </div>
    );
  }
  const { capabilities } = model.proof;
  const lost = capabilities.filter(({ has }) => !has);
  if (lost.length === 0) return null;
  const left = capabilities.filter(({ has, name }) => has && name !== "logits");
  return (
    <div className="notice" role="note" aria-label="Proof">
      <p>
        Checked against the plain model, this one can’t give everything here
        {left.length > 0 && `; it gives ${left.map(({ title }) => title).join(", ")}`}.
      </p>
      <ul>
        {lost.map(({ name, title, reason }) => (
          <li key={name}>
            No {title}: {reason}.
          </li>
        ))}
      </ul>
    </div>
  );
}
