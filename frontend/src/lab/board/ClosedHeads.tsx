import { useQuery } from "@tanstack/react-query";
import { queries } from "../../api/queries";
import { useLab } from "../state/useLab";

/** A task that is always there: its rows are taken until the reader picks others. */
const FIRST_REFERENCE = "induction";

/** What a head gives where its gate is closed, and the task whose rows that comes from. */
export function ClosedHeads() {
  const { view, move, readOnly } = useLab();
  const { closed } = view;
  const tasks = useQuery({ ...queries.tasks(), enabled: closed !== null && !readOnly });
  if (readOnly) return closed && <p className="muted small">{inWords(closed.ablation, closed.reference)}</p>;
  const pick = (ablation: string) =>
    move({
      closed:
        ablation === "mean" || ablation === "resample"
          ? { ablation, reference: closed?.reference ?? FIRST_REFERENCE }
          : null,
    });
  const names = (tasks.data ?? []).map(({ name, title }) => ({ name, title }));
  const known = names.some(({ name }) => name === closed?.reference);
  return (
    <p className="board-tools small">
      <label className="field">
        a closed head gives
        <select value={closed?.ablation ?? "zero"} onChange={(event) => pick(event.target.value)}>
          <option value="zero">nothing</option>
          <option value="mean">its mean over rows of</option>
          <option value="resample">what it gives in a row of</option>
        </select>
      </label>
      {closed && (
        <select
          aria-label="Task whose rows are taken"
          value={closed.reference}
          onChange={(event) => move({ closed: { ...closed, reference: event.target.value } })}
        >
          {!known && <option value={closed.reference}>{closed.reference}</option>}
          {names.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      )}
    </p>
  );
}

function inWords(ablation: string, reference: string): string {
  return ablation === "mean"
    ? `A closed head gives its mean over rows of ${reference}.`
    : `A closed head gives what it gives in a row of ${reference}.`;
}
