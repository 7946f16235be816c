import { useId, useState } from "react";
import { type Circuit, circuitQueries, type HeadAsk, type TablesOut } from "../api/circuits";
import { useWorkerQuery } from "../api/query";
import type { Model, Token } from "../api/types";
import { count } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { TokenView } from "../tokens/TokenText";
import { written } from "../tokens/visible";
import type { CircuitsView, Head } from "../url/view";
import { CellTable } from "./CellTable";
import { Crossed } from "./Crossed";
import { TokenPicker } from "./TokenPicker";

interface TokenTablesProps {
  model: Model;
  weights: string | null;
  head: Head;
  view: CircuitsView;
  onView: (view: CircuitsView) => void;
}

/** The head and the weights to ask for. */
export function askOf(model: string, weights: string | null, { layer, head }: Head): HeadAsk {
  return {
    model,
    layer,
    head,
    ...(weights === "folded" || weights === "raw" ? { weight_processing: weights } : {}),
  };
}

/** Up to so many tokens the strongest cells of all are there at once; beyond, they are asked for. */
const SMALL = 4096;

/** What a head's weights say of tokens: what it writes for each, and where each looks. */
export function TokenTables({ model, weights, head, view, onView }: TokenTablesProps) {
  const ask = askOf(model.name, weights, head);
  const onToken = (token: Token | null) => onView({ ...view, token: token?.id ?? null });
  return (
    <section className="circuit-section" aria-label="Token tables">
      <div className="section-head">
        <h2>Token by token</h2>
      </div>
      <p className="caption">
        Read from the weights: what the head writes when it looks at a token, and which tokens look at which.
      </p>
      <div className="token-row">
        <TokenPicker model={model.name} label="Show the cells of a token" onPick={onToken} />
        {view.token !== null && (
          <button type="button" className="button" onClick={() => onToken(null)}>
            Strongest over all tokens
          </button>
        )}
      </div>
      <div className="pictures">
        {(["ov", "qk"] as const).map((circuit) => (
          <CircuitTable
            key={circuit}
            ask={ask}
            circuit={circuit}
            token={view.token}
            small={(model.d_vocab ?? 0) <= SMALL}
            onToken={onToken}
          />
        ))}
      </div>
      <Crossed key={`${head.layer}.${head.head}`} ask={ask} />
    </section>
  );
}

const WORDS = {
  ov: {
    title: "What it writes (OV circuit)",
    reading:
      "When it looks at the source, the head adds this much to the output's logit. A copying head raises the source itself.",
    names: ["source", "output"],
    row: "Looking at it raises",
    column: "It is raised by looking at",
  },
  qk: {
    title: "Where it looks (QK circuit)",
    reading: "How strongly the query token attends to the key token, by content alone, without positions.",
    names: ["query", "key"],
    row: "It looks at",
    column: "Who looks at it",
  },
} satisfies Record<Exclude<Circuit, "direct">, { names: [string, string] } & Record<string, unknown>>;

interface CircuitTableProps {
  ask: HeadAsk;
  circuit: keyof typeof WORDS;
  token: number | null;
  small: boolean;
  onToken: (token: Token) => void;
}

function CircuitTable({ ask, circuit, token, small, onToken }: CircuitTableProps) {
  const heading = useId();
  const [wanted, setWanted] = useState<string>();
  const words = WORDS[circuit];
  const question = { ...ask, circuit, token };
  const key = JSON.stringify(question);
  const idle = token === null && !small && wanted !== key;
  const table = useWorkerQuery({ ...circuitQueries.tables(question), enabled: !idle });
  return (
    <section className="card picture" aria-labelledby={heading}>
      <header className="picture-head">
        <h3 id={heading}>{words.title}</h3>
        {table.data?.token && (
          <span className="muted small">
            of <TokenView token={table.data.token} />
          </span>
        )}
      </header>
      {idle && (
        <p className="card-actions">
          <button type="button" className="button" onClick={() => setWanted(key)}>
            Find the strongest cells of all
          </button>
          <span className="muted small">takes a few seconds with a vocabulary of this size</span>
        </p>
      )}
      {table.error && <ProblemNote error={table.error} retry={table.refetch} />}
      {table.isLoading && (
        <div className="skeleton list-skeleton" role="status" aria-label="Reading the weights" />
      )}
      {table.data && <Cells data={table.data} words={words} onToken={onToken} />}
      <p className="caption">
        {words.reading}
        {table.data &&
          ` Values: ${table.data.unit}. The strongest of ${count(table.data.vocabulary)} tokens.`}
      </p>
    </section>
  );
}

interface CellsProps {
  data: TablesOut;
  words: { names: [string, string]; row: string; column: string };
  onToken: (token: Token) => void;
}

function Cells({ data, words, onToken }: CellsProps) {
  const { token, cells, column } = data;
  const shared = { names: words.names, onToken };
  return (
    <div className="cell-tables">
      <CellTable
        caption={token ? `${words.row}: ${written(token)}` : "The strongest cells of the whole table"}
        cells={cells}
        {...shared}
      />
      {token && <CellTable caption={`${words.column}: ${written(token)}`} cells={column} {...shared} />}
    </div>
  );
}
