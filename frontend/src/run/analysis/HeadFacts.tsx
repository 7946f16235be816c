import { useQuery } from "@tanstack/react-query";
import { queries } from "../../api/queries";
import type { Run } from "../../api/types";
import { NOTHING } from "../../format/numbers";
import { HeadTitle } from "../../parts/HeadTitle";
import { isGrid } from "../../plot/heads";
import type { Selection } from "../../plot/Picture";
import { HeadLinks } from "../../results/HeadLinks";
import { rowOf } from "../../results/headRow";
import type { Head } from "../../url/view";
import { HeadNames } from "../HeadNames";
import { StrongestPrompts } from "./StrongestPrompts";

interface HeadFactsProps {
  run: Run;
  figures: readonly string[];
  /** Whether the run has pictures of one head, which follow. */
  following: boolean;
  share: string | null;
  selection: Selection;
}

/** The selected head: what each map of the run says about it. */
export function HeadFacts({ run, figures, following, share, selection }: HeadFactsProps) {
  const { head, onSelect } = selection;
  const layers = Number(run.model_info?.n_layers ?? Number.POSITIVE_INFINITY);
  const heads = Number(run.model_info?.n_heads ?? Number.POSITIVE_INFINITY);
  return (
    <section className="card head-card" aria-label="Selected head">
      {!head ? (
        <>
          <h2>No head selected</h2>
          <p className="muted">
            Click a head in a picture, or focus a map and use the arrow keys, to see what is known about it.
          </p>
        </>
      ) : head.layer >= layers || head.head >= heads ? (
        <p className="muted">
          There is no head {head.layer}.{head.head}: layers run 0–{layers - 1}, heads 0–{heads - 1}.
        </p>
      ) : (
        <>
          <HeadTitle head={head} onDeselect={() => onSelect(null)} />
          <dl className="facts-list">
            {figures.map((name) => (
              <HeadRow key={name} run={run} figure={name} share={share} head={head} />
            ))}
          </dl>
          {share === null && <HeadNames run={run} head={head} />}
          {share === null && <StrongestPrompts run={run} figures={figures} head={head} />}
          {following && <p className="muted small">Pictures about one head show this one.</p>}
          {share === null && <HeadLinks model={run.model} head={head} />}
        </>
      )}
    </section>
  );
}

interface HeadRowProps {
  run: Run;
  figure: string;
  share: string | null;
  head: Head;
}

/** What one map says of the head; the first column is its value, the others come on hover. */
function HeadRow({ run, figure, share, head }: HeadRowProps) {
  const { data } = useQuery(queries.figure(run, figure, { share }));
  const table = useQuery({ ...queries.table(run, figure, { share }), enabled: isGrid(data) });
  if (!isGrid(data)) return null;
  const values = table.data ? rowOf(table.data, head) : [];
  const [first] = values;
  return (
    <div title={values.map(({ title, text }) => `${title} ${text}`).join("\n")}>
      <dt>{data.layout.meta?.title ?? figure}</dt>
      <dd>{first?.text ?? (table.data || table.error ? NOTHING : "…")}</dd>
    </div>
  );
}
