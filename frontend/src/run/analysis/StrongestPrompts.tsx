import { api } from "../../api/client";
import { useResource } from "../../api/resource";
import type { Run, Table } from "../../api/types";
import { count, measured } from "../../format/numbers";
import { isGrid } from "../../plot/heads";
import { useRunFigure } from "../../results/runFigure";
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
  const { prompts } = run.params;
  if (run.analysis !== "battery" || typeof prompts !== "string") return null;
  return (
    <section className="strongest-prompts" aria-label="Prompts where it is strongest">
      <h3>Strongest on prompts</h3>
      <dl className="facts-list">
        {figures.map((figure) => (
          <ScoreRow key={figure} run={run} prompts={prompts} figure={figure} head={head} />
        ))}
      </dl>
    </section>
  );
}

interface ScoreRowProps {
  run: Run;
  prompts: string;
  figure: string;
  head: Head;
}

function ScoreRow({ run, prompts, figure, head }: ScoreRowProps) {
  const { data } = useRunFigure(run, figure, null);
  const map = isGrid(data);
  const table = useResource(
    map ? `table ${run.id} ${figure}` : null,
    (signal) => api.table(run.id, figure, { share: null }, signal),
    { fixed: true },
  );
  const found = table.data ? strongest(table.data, head) : [];
  if (!map || found.length === 0) return null;
  const sort = LAB_SORTS.find((one) => one === figure) ?? DEFAULT_LAB.sort;
  const { bos } = run.params;
  const view = { ...DEFAULT_LAB, model: run.model, prompt: prompts, head, sort };
  return (
    <div>
      <dt>{data.layout.meta?.title ?? figure}</dt>
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
export function strongest(table: Table, { layer, head }: Head): { prompt: number; value: number }[] {
  const at = (name: string) => table.columns.findIndex((column) => column.name === name);
  const row = table.rows.find((one) => one[at("layer")] === layer && one[at("head")] === head);
  return [1, 2, 3].flatMap((place) => {
    const prompt: unknown = row?.[at(`top${place}`)];
    const value: unknown = row?.[at(`top${place}_value`)];
    return typeof prompt === "number" && typeof value === "number" ? [{ prompt, value }] : [];
  });
}
