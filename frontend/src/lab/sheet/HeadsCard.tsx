import { useMemo, useState } from "react";
import { measured, percent } from "../../format/numbers";
import { Segmented } from "../../parts/Segmented";
import { LAB_SORTS, type LabSort } from "../../url/lab";
import { indexOf, toggled } from "../state/gates";
import { type Above, type Look, type Ranking, scoreOf } from "../state/look";
import { useLab } from "../state/useLab";
import { HeadTable } from "./HeadTable";
import { ordered } from "./order";
import { ThumbSheet } from "./ThumbSheet";
import { WholeModel } from "./WholeModel";

const SHORT: Record<LabSort, string> = {
  induction: "induction",
  duplicate: "duplicate",
  previous: "previous",
  current: "current",
  sink: "sink",
  entropy: "entropy",
  layer: "layer",
};

const HEADING: Record<LabSort, string> = {
  induction: "Heads, strongest induction on this prompt first",
  duplicate: "Heads, those that look most at earlier copies first",
  previous: "Heads, those that look most at the token before first",
  current: "Heads, those that look most at the token itself first",
  sink: "Heads, those that look most at the first token first",
  entropy: "Heads, the most focused first",
  layer: "Heads, layer by layer",
};

/** All heads at a glance, sorted and filtered, or as a table. */
export function HeadsCard({ look, onOpen }: { look: Look; onOpen: () => void }) {
  const { view, move, gates, setGates, head, select, looking, readOnly } = useLab();
  const [asTable, setAsTable] = useState(false);
  const { sort, least } = view;
  const order = useMemo(() => ordered(look, { sort, least }), [look, sort, least]);
  const scored = scoreOf(look, sort);
  const above = look.above.get(sort);
  const nothing = scored?.values.every(Number.isNaN) ?? false;
  return (
    <section className="lab-heads" aria-label="All heads" aria-busy={looking}>
      <header className="section-head">
        <h2>{scored?.onRepeats ? onRepeatsInWords(scored) : HEADING[sort]}</h2>
        <div className="lab-sorts">
          <Segmented
            label="Sort heads by"
            options={LAB_SORTS.map((value) => ({
              value,
              text: SHORT[value],
              hint: scoreOf(look, value)?.score.reading ?? "In the model’s own order",
            }))}
            value={sort}
            onChange={(next) => move({ sort: next, least: 0 }, { replace: true })}
          />
        </div>
      </header>
      <div className="card picture">
        {above && !above.tells && <p className="notice">{tooFewInWords(above)}</p>}
        {nothing && (
          <p className="notice">
            {scored?.score.title} has no value on this prompt
            {look.copies.every((earlier) => earlier.length === 0) ? ": no token in it repeats." : "."}
          </p>
        )}
        {asTable ? (
          <HeadTable look={look} order={order} gates={gates} />
        ) : order.length === 0 ? (
          <p className="muted lab-empty">
            No head reaches {measured(least)}.{" "}
            <button
              type="button"
              className="link-button"
              onClick={() => move({ least: 0 }, { replace: true })}
            >
              Show all {look.layers * look.heads}
            </button>
          </p>
        ) : (
          <ThumbSheet
            look={look}
            order={order}
            scores={scored?.values ?? null}
            sink={view.sink}
            gates={gates}
            head={head}
            onSelect={select}
            onMute={(one) => readOnly || setGates(toggled(gates, [indexOf(look, one)]))}
            onOpen={(one) => {
              select(one);
              onOpen();
            }}
          />
        )}
        <footer className="picture-foot">
          <p className="caption">{scaleInWords(look, view.sink)}</p>
          <div className="picture-tools">
            <button
              type="button"
              className="button quiet"
              aria-pressed={asTable}
              onClick={() => setAsTable(!asTable)}
            >
              Table
            </button>
          </div>
        </footer>
        <div className="lab-filters">
          {scored && (
            <label className="lab-least">
              {scored.score.title} at least{" "}
              <input
                type="number"
                min={0}
                max={100}
                step={0.05}
                value={least}
                onChange={(event) =>
                  move({ least: Math.max(0, event.target.valueAsNumber || 0) }, { replace: true })
                }
              />
              <span className="muted">
                {order.length} of {look.layers * look.heads} heads
              </span>
            </label>
          )}
          <label className="lab-check">
            <input
              type="checkbox"
              checked={view.sink}
              onChange={() => move({ sink: !view.sink }, { replace: true })}
            />
            Include the first and special tokens in the colour scale
          </label>
          <label
            className="lab-check"
            title="Each key’s weight times the norm of its value vector, rows rescaled to sum to 1"
          >
            <input
              type="checkbox"
              checked={view.weighted}
              disabled={readOnly}
              onChange={() => move({ weighted: !view.weighted }, { replace: true })}
            />
            Weight by value norm
          </label>
        </div>
        <WholeModel />
      </div>
    </section>
  );
}

function onRepeatsInWords({ score }: Ranking): string {
  return `Heads, strongest ${score.title.toLowerCase()} on random repeats first`;
}

/** Why no head is named by a score on this prompt, and what ranks them instead. */
export function tooFewInWords({ queries, repeats }: Pick<Above, "queries" | "repeats">): string {
  const tokens = queries === 0 ? "no token" : queries === 1 ? "one token" : `${queries} tokens`;
  const ranked = repeats ? " Heads are ranked by the same score on random tokens that repeat." : "";
  return `Too few repeats to tell: this prompt has ${tokens} to measure it by.${ranked}`;
}

/** How the colours read, and how much the first token takes. */
export function scaleInWords({ sink, thumbs }: Pick<Look, "sink" | "thumbs">, counted: boolean): string {
  const rows = "Rows are tokens, columns where each looks; the darkest cell is each head’s largest weight.";
  const takes = `${sink >= 0.5 ? "Most attention" : "Of all attention"}, ${percent(sink)}, goes to the first token`;
  const scale = counted
    ? "it is included in the colour scale."
    : "it is drawn grey and left out of the colour scale.";
  const blocks =
    thumbs.block > 1 ? ` A cell is the largest weight of ${thumbs.block} × ${thumbs.block} tokens.` : "";
  return `${rows} ${takes}: ${scale}${blocks}`;
}
