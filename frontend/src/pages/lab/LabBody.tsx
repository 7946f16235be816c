import { useLab } from "../../lab/state";
import { Side } from "./Side";

export function LabBody() {
  const { model, view } = useLab();
  return (
    <div className="page lab">
      <h1 className="pickers">Prompt lab · {model?.title ?? view.model}</h1>
      <div className="columns lab-columns">
        <div className="main-column" />
        <aside className="side-column" aria-label="Gates and what they do">
          <Side />
        </aside>
      </div>
    </div>
  );
}
