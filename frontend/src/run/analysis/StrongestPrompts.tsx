import { useQueries, useQuery } from "@tanstack/react-query";
import { queries } from "../../api/queries";
import type { Run, Table } from "../../api/types";
import { count, measured } from "../../format/numbers";
import { useAnalysis } from "../../results/analyses";
import { DEFAULT_LAB, LAB_SORTS } from "../../url/lab";
import { Link } from "../../url/navigation";
import type { Head } from "../../url/view";

interface StrongestPromptsProps {
  run: Run;
  /** A score's map each. */
  figures: readonly string[];
  head: Head;
}

/** In which prompts of a batch the head does most of each score: a link to the prompt lab at each. */
export function StrongestPrompts({ run, figures, head }: StrongestPromptsProps) {
  const prompts = usePrompts(run);
  const tables = useQueries({
    queries: prompts === null ? [] : figures.map((figure) => queries.table(run, figure, { share: null })),
  });
  const rows = tables.flatMap(({ data }, i) => {
    const [figure, found] = [figures[i], data ? strongest(data, head) : []];
    return figure !== undefined && found.length > 0 ? [{ figure, found }] : [];
  });
  if (prompts === null || rows.length === 0) return null;
  return (
    <section className="strongest-prompts" aria-label="Prompts where it is strongest">
      <h3>Strongest on prompts</h3>
      <dl className="facts-list">
        {rows.map(({ figure, found }) => (
          <ScoreRow key={figure} run={run} prompts={prompts} figure={figure} head={head} found={found} />
        ))}
      </dl>
    </section>
  );
}

/** The stored prompts that the run read; null where it read none. */
function usePrompts(run: Run): string | null {
  const { references = {} } = useAnalysis(run.analysis) ?? {};
  const [param] = Object.entries(references).find(([, kind]) => kind === "prompts") ?? [];
  const prompts = param === undefined ? null : run.params[param];
  return typeof prompts === "string" ? prompts : null;
}

interface Strong {
  prompt: number;
  value: number;
}

interface ScoreRowProps {
  run: Run;
  prompts: string;
  figure: string;
  head: Head;
  found: Strong[];
}

function ScoreRow({ run, prompts, figure, head, found }: ScoreRowProps) {
  const { data } = useQuery(queries.figure(run, figure, { share: null }));
  const sort = LAB_SORTS.find((one) => one === figure) ?? DEFAULT_LAB.sort;
  const { bos } = run.params;
  const view = { ...DEFAULT_LAB, model: run.model, prompt: prompts, head, sort };
  return (
    <div>
      <dt>{data?.layout.meta?.title ?? figure}</dt>
      <dd>
        {found.map(({ prompt, value }, i) => (
          <span key={prompt}>
            {i > 0 && ", "}
            <Link
              to={{
                page: "lab",
                ...view,
                row: prompt - 1,
                bos: typeof bos === "boolean" ? bos : null,
                fold: run.params.fold === true,
              }}
              aria-label={`Prompt ${prompt} in the prompt lab, ${measured(value)}`}
              title={`${measured(value)} · open it in the prompt lab`}
            >
              {count(prompt)}
            </Link>
          </span>
        ))}
      </dd>
    </div>
  );
}

/** The prompts, numbered from 1, where a head has its highest values, the highest first. */
export function strongest(table: Table, { layer, head }: Head): Strong[] {
  const at = (name: string) => table.columns.findIndex((column) => column.name === name);
  const row = table.rows.find((one) => one[at("layer")] === layer && one[at("head")] === head);
  return [1, 2, 3].flatMap((place) => {
    const prompt: unknown = row?.[at(`top${place}`)];
    const value: unknown = row?.[at(`top${place}_value`)];
    return typeof prompt === "number" && typeof value === "number" ? [{ prompt, value }] : [];
  });
}
