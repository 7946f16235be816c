import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { Run, Table } from "../api/types";
import { useAnalyses } from "../results/analyses";
import { Link } from "../url/navigation";
import { DEFAULT_VIEW, type Head } from "../url/view";

/** The table by which an analysis gives heads their names. */
const NAMES = "names";

export interface Named {
  names: string;
  evidence: string[];
  conflicts: string;
}

/** What a table of names says of a head; nothing where it isn't in it. */
export function namedIn(table: Table, { layer, head }: Head): Named | null {
  const at = (name: string) => table.columns.findIndex((column) => column.name === name);
  const row = table.rows.find((one) => one[at("layer")] === layer && one[at("head")] === head);
  if (!row) return null;
  const text = (name: string) => String(row[at(name)] ?? "");
  return {
    names: text("names"),
    evidence: text("evidence").split("; ").filter(Boolean),
    conflicts: text("conflicts"),
  };
}

/** The head's names and what each rests on, by the newest run that names heads of the same weights, if there is one. */
export function HeadNames({ run, head }: { run: Run; head: Head }) {
  const { model, model_info: info } = run;
  const naming = useAnalyses().data?.find(({ figures }) => figures.includes(NAMES))?.name;
  const itself = run.analysis === naming;
  const runs = useQuery({
    ...queries.runs({ model, analysis: naming, status: "done", limit: 20 }),
    enabled: naming !== undefined && !itself,
  });
  const newest = itself ? run : runs.data?.runs.find((one) => one.model_info?.revision === info?.revision);
  const table = useQuery({ ...queries.table(newest ?? run, NAMES), enabled: newest !== undefined });
  const named = table.data && namedIn(table.data, head);
  if (!named || !newest) return null;
  return (
    <section className="head-names" aria-label="Names of the head">
      <h3>{named.names === "unknown" || named.names === "none" ? "No name" : named.names}</h3>
      {named.evidence.length === 0 && (
        <p className="muted small">
          {named.names === "none"
            ? "It passes none of the tests that name a head."
            : "None of the tests made so far names it."}
        </p>
      )}
      {named.evidence.length > 0 && (
        <ul className="muted small">
          {named.evidence.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
      )}
      {named.conflicts && <p className="small">{named.conflicts}</p>}
      {newest !== run && (
        <p className="small">
          <Link to={{ page: "run", id: newest.id, view: { ...DEFAULT_VIEW, head } }}>
            Evidence for the names
          </Link>
        </p>
      )}
    </section>
  );
}
