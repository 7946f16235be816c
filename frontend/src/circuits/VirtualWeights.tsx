import { type FormEvent, useState } from "react";
import { circuitQueries, type Direction, type VirtualOut, type Weighed } from "../api/circuits";
import { useWorkerQuery } from "../api/query";
import { measured, NOTHING } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { TokenView } from "../tokens/TokenText";
import type { CircuitsView } from "../url/view";
import {
  type Component,
  ComponentPicker,
  componentName,
  parseComponent,
  READERS,
  WRITERS,
} from "./ComponentPicker";

interface VirtualWeightsProps {
  model: string;
  layers: number;
  heads: number;
  weights: string | null;
  view: CircuitsView;
  onView: (view: CircuitsView) => void;
}

/** What one component of the stream reads of what another one wrote, along its strongest directions. */
export function VirtualWeights({ model, layers, heads, weights, view, onView }: VirtualWeightsProps) {
  const pair = view.virtual;
  const [writer, setWriter] = useState<Component>(() => parseComponent(pair?.writer ?? "embed"));
  const [reader, setReader] = useState<Component>(() => parseComponent(pair?.reader ?? "unembed"));
  const ask: Parameters<typeof circuitQueries.virtual>[0] = {
    model,
    ...(weights === "folded" || weights === "raw" ? { weight_processing: weights } : {}),
    writer: pair?.writer ?? "",
    reader: pair?.reader ?? "",
  };
  const found = useWorkerQuery({ ...circuitQueries.virtual(ask), enabled: pair !== null });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onView({ ...view, virtual: { writer: componentName(writer), reader: componentName(reader) } });
  };
  const sizes = { layers, heads };
  return (
    <section className="circuit-section" aria-label="Virtual weights">
      <div className="section-head">
        <h2>Virtual weights</h2>
      </div>
      <p className="caption">
        What any later component reads of what an earlier one writes: their matrices multiplied, and the
        strongest directions of the product in tokens.
      </p>
      <div className="card virtual-weights">
        <form className="virtual-form" onSubmit={submit}>
          <ComponentPicker label="Writes" kinds={WRITERS} value={writer} onChange={setWriter} {...sizes} />
          <ComponentPicker label="Reads" kinds={READERS} value={reader} onChange={setReader} {...sizes} />
          <button type="submit" className="button">
            Compute
          </button>
        </form>
        <div aria-live="polite">
          {found.error && (
            <ProblemNote error={found.error} retry={found.error.status === 422 ? undefined : found.refetch} />
          )}
          {found.isLoading && (
            <div className="skeleton list-skeleton" role="status" aria-label="Reading the weights" />
          )}
          {found.data && <Product data={found.data} />}
        </div>
      </div>
    </section>
  );
}

function Product({ data }: { data: VirtualOut }) {
  const reads = data.share !== null && data.share !== undefined;
  return (
    <>
      <p className="facts">
        {data.writer} → {data.reader} · norm {measured(data.norm)}
        {reads && ` · share ${measured(data.share)} of the maximum; random matrices ${measured(data.random)}`}
        {` · ${data.weight_processing} weights`}
      </p>
      {data.directions.length === 0 ? (
        <p className="muted">The reader reads nothing that the writer writes.</p>
      ) : (
        <table className="table directions">
          <caption>
            The strongest directions: along each, more of the writer’s side gives more of the reader’s. A
            direction’s sign is arbitrary: both sides can be flipped together.
          </caption>
          <thead>
            <tr>
              <th scope="col">singular value</th>
              <th scope="col">{LEFT[data.left]}</th>
              <th scope="col">{rightTitle(data)}</th>
            </tr>
          </thead>
          <tbody>
            {data.directions.map((direction, i) => (
              <Row key={i} direction={direction} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Row({ direction: { value, ...ends } }: { direction: Direction }) {
  return (
    <tr>
      <th scope="row">{measured(value)}</th>
      <td>
        <Ends high={ends.left_high} low={ends.left_low} />
      </td>
      <td>
        <Ends high={ends.right_high} low={ends.right_low} />
      </td>
    </tr>
  );
}

/** Both ends of a direction: the tokens that are most for it, and those most against it. */
function Ends({ high, low }: { high: Weighed[]; low: Weighed[] }) {
  if (high.length === 0) return <span title="This side isn’t in tokens">{NOTHING}</span>;
  return (
    <>
      {[
        { sign: "+", tokens: high },
        { sign: "−", tokens: low },
      ].map(({ sign, tokens }) => (
        <div key={sign} className="ends">
          <span className="muted">{sign}</span>
          {tokens.map(({ token, value }) => (
            <span key={token.id} title={measured(value)}>
              <TokenView token={token} />
            </span>
          ))}
        </div>
      ))}
    </>
  );
}

const LEFT: Record<VirtualOut["left"], string> = {
  tokens: "tokens that write it",
  positions: "positions that write it",
  neurons: "neurons that write it",
  reads: "tokens the head takes it from",
  writes: "tokens that write it",
};

function rightTitle({ right, reader }: VirtualOut): string {
  if (right === "neurons") return "neurons that read it";
  if (right !== "reads") return "tokens it raises";
  return reader.endsWith("q") ? "tokens it then looks at" : "tokens that look there";
}
