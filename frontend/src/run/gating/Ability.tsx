import type { Figure } from "../../api/types";
import { percent } from "../../format/numbers";

/** How the model does without gates: said first, since a map of what it can't do tells of no roles. */
export function Ability({ figure }: { figure: Figure | undefined }) {
  const { ability, vocabulary } = figure?.layout.meta ?? {};
  if (!ability) return null;
  if (vocabulary?.kind !== "steering") {
    return (
      <p className="facts">
        The model answers <b>{percent(ability.accuracy)}</b> right as it is
        {ability.chance !== null && ` (chance ${percent(ability.chance)})`}.
        {ability.caution && ` ${ability.caution}`}
      </p>
    );
  }
  return (
    <p className="card ability steering" role="note">
      <strong>{vocabulary.title}.</strong> The model {ability.words} as it is, too few to say what a head is
      for: gates that lift its answers show what could be made of the heads, not what they do. More in-context
      examples (<code>shots=auto</code>) may help.
    </p>
  );
}
