import { ProblemNote } from "../parts/ProblemNote";
import { HeadLinks } from "../results/HeadLinks";
import type { Head } from "../url/view";
import type { CircuitsState } from "./AllHeads";
import { CircuitFigure } from "./CircuitFigure";
import { sectionRuns } from "./circuitRuns";
import { HeadScores } from "./HeadScores";
import { Section } from "./Section";
import { TokenTables } from "./TokenTables";

/** One head taken apart: scores, spectra, partners, and what its weights say of tokens. */
export function HeadCircuit({
  model,
  sections,
  runs,
  weights,
  view,
  onView,
  reload,
  head,
}: CircuitsState & { head: Head }) {
  const { n_layers: layers, n_heads: heads } = model;
  if (layers !== null && heads !== null && (head.layer >= layers || head.head >= heads)) {
    return (
      <ProblemNote
        problem={{
          type: "about:blank",
          title: "No such head",
          status: 404,
          code: "no-head",
          detail: `${model.title} has no head ${head.layer}.${head.head}.`,
          remedy: `Layers run 0–${layers - 1}, heads 0–${heads - 1}.`,
        }}
        retry={() => onView({ ...view, head: null, tab: "heads" })}
        retryLabel="Show all heads"
      />
    );
  }
  const selection = { head, onSelect: (next: Head | null) => next && onView({ ...view, head: next }) };
  const eigen = sectionRuns(runs, "eigen", weights).done;
  return (
    <div className="columns">
      <div className="main-column">
        <HeadPicker head={head} layers={layers ?? 1} heads={heads ?? 1} onPick={selection.onSelect} />
        <div className="pictures">
          {sections.map(({ name, head_figures: figures }) => {
            const run = sectionRuns(runs, name, weights).done;
            return (
              run &&
              figures.map((figure, i) => (
                <CircuitFigure
                  key={`${name} ${figure}`}
                  run={run}
                  name={figure}
                  view={view}
                  selection={selection}
                  saysLeftOut={i === 0}
                />
              ))
            );
          })}
        </div>
        <TokenTables model={model} weights={weights} head={head} view={view} onView={onView} />
        {sections
          .filter(({ name }) => name === "eigen" || name === "composition")
          .filter(({ name }) => sectionRuns(runs, name, weights).done === undefined)
          .map((analysis) => (
            <Section
              key={analysis.name}
              analysis={analysis}
              model={model.name}
              weights={weights}
              runs={sectionRuns(runs, analysis.name, weights)}
              view={view}
              reload={reload}
            >
              {() => null}
            </Section>
          ))}
      </div>
      <aside className="side-column" aria-label="Scores of the head">
        <section className="card head-card" aria-label="Selected head">
          <h2>
            Layer {head.layer} · head {head.head}
          </h2>
          {eigen ? (
            <HeadScores run={eigen} head={head} />
          ) : (
            <p className="muted">Compute the eigenvalues to see its scores.</p>
          )}
          <HeadLinks model={model.name} head={head} circuits={false} />
        </section>
      </aside>
    </div>
  );
}

interface HeadPickerProps {
  head: Head;
  layers: number;
  heads: number;
  onPick: (head: Head) => void;
}

/** Another head, by its layer and number. */
function HeadPicker({ head, layers, heads, onPick }: HeadPickerProps) {
  const numbers = (n: number) =>
    Array.from({ length: n }, (_, i) => (
      <option key={i} value={i}>
        {i}
      </option>
    ));
  return (
    <h2 className="pickers head-picker">
      Layer{" "}
      <span className="picker">
        <select
          aria-label="Layer"
          value={head.layer}
          onChange={({ target }) => onPick({ ...head, layer: Number(target.value) })}
        >
          {numbers(layers)}
        </select>
      </span>{" "}
      · head{" "}
      <span className="picker">
        <select
          aria-label="Head"
          value={head.head}
          onChange={({ target }) => onPick({ ...head, head: Number(target.value) })}
        >
          {numbers(heads)}
        </select>
      </span>
    </h2>
  );
}
