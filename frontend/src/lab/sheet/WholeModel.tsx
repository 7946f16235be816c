import { useQuery } from "@tanstack/react-query";
import { queries } from "../../api/queries";
import { Link } from "../../url/navigation";
import { DEFAULT_VIEW, NEW_RUN, type Place } from "../../url/view";
import { useLab } from "../state/useLab";

/** One prompt says little of a model: the way to its induction on repeated random tokens, over many draws. */
export function WholeModel() {
  const { model, readOnly } = useLab();
  const name = readOnly || !model?.ready ? null : model.name;
  const { data } = useQuery({
    ...queries.runs({ model: name, analysis: "induction", status: "done", limit: 20 }),
    enabled: name !== null,
  });
  if (!name || !data) return null;
  const run = data.runs.find(({ params }) => !params.gates);
  const to: Place = run
    ? { page: "run", id: run.id, view: DEFAULT_VIEW }
    : { page: "new", ...NEW_RUN, analysis: "induction", model: name };
  return (
    <p className="caption whole-model">
      This is one prompt. <Link to={to}>{run ? "See every head" : "Measure every head"}</Link> on random
      tokens that repeat: scores by layer and head with their spread, and how the loss falls along the text.
    </p>
  );
}
