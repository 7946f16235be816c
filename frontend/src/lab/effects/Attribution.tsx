import { useEffect, useMemo, useState } from "react";
import { labApi } from "../../api/lab";
import type { AttributionOut, GatesOut } from "../../api/labTypes";
import { measured, number } from "../../format/numbers";
import { ProblemNote } from "../../parts/ProblemNote";
import { decode } from "../../plot/arrays";
import { TokenView } from "../../tokens/TokenText";
import { type Head, headName } from "../../url/heads";
import { HeadCells } from "../board/HeadCells";
import { changed, headAt, indexOf, type Sizes, toRows } from "../state/gates";
import { useLab } from "../state/useLab";
import { useLatest } from "../state/useLatest";
import { Late } from "./Late";

type Question = Parameters<typeof labApi.attribution>[0];

/** Which parts of the model write the followed token, or tell two apart. */
export function Attribution() {
  const [open, setOpen] = useState(false);
  return (
    <section className="card attribution" aria-labelledby="attribution-heading">
      <header className="picture-head">
        <h2 id="attribution-heading">Direct logit attribution</h2>
        <button type="button" className="button quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide" : "Show"}
        </button>
      </header>
      {open ? (
        <Shown />
      ) : (
        <p className="muted small">What each head adds directly to the next token’s logit.</p>
      )}
    </section>
  );
}

/** The most likely next token of the model as it is: it stays the same while gates move. */
function likeliest(out: GatesOut | undefined): number | undefined {
  return out?.next.reduce((best, row) => (row.before > best.before ? row : best)).token.id;
}

/** What is asked: the followed tokens, else the likeliest; of the gated model where gates are changed. */
export function useTargeted(): { ask: Question | null; gated: boolean } {
  const { ask, gates, sizes, view, at, gated: live } = useLab();
  const [first, against] = view.answers;
  const token = first ?? likeliest(live.data);
  const gated = changed(gates).length > 0;
  const question = useMemo<Question | null>(
    () =>
      ask && sizes && token !== undefined
        ? {
            ...ask,
            at,
            token,
            against: against ?? null,
            gates: gated ? toRows(gates, sizes) : null,
            ...view.closed,
          }
        : null,
    [ask, sizes, at, token, against, gated, gates, view.closed],
  );
  return { ask: question, gated };
}

function Shown() {
  const { ask, gated } = useTargeted();
  const { sizes } = useLab();
  const [asTable, setAsTable] = useState(false);
  const { ask: prompt, at, view } = useLab();
  const line = useLatest<Question, AttributionOut>(
    JSON.stringify([prompt, at, view.answers]),
    labApi.attribution,
  );
  const { want } = line;
  useEffect(() => {
    if (ask) want(ask);
  }, [ask, want]);
  const problem = line.error && <ProblemNote error={line.error} retry={ask ? () => want(ask) : undefined} />;
  if (!line.data || !sizes)
    return (
      problem ?? <div className="skeleton next-skeleton" role="status" aria-label="Loading the attribution" />
    );
  const out = line.data;
  return (
    <Late busy={line.busy}>
      {problem}
      <p className="small">
        Contributions to the logit of <TokenView token={out.token} />
        {out.against && (
          <>
            {" "}
            minus that of <TokenView token={out.against} />
          </>
        )}{" "}
        after token {out.at}
        {gated && ", under the current gates"}.
        <button
          type="button"
          className="button quiet"
          aria-pressed={asTable}
          onClick={() => setAsTable(!asTable)}
        >
          Table
        </button>
      </p>
      {asTable ? <PartsTable out={out} sizes={sizes} /> : <PartsMap out={out} sizes={sizes} />}
      <Sum out={out} />
      {out.note && <p className="muted small">{out.note}</p>}
    </Late>
  );
}

/** The parts' sum beside what the model itself says. */
function Sum({ out }: { out: AttributionOut }) {
  const off = Math.abs(out.total - out.logit);
  const equal = off <= 1e-3 * Math.max(1, Math.abs(out.logit));
  return (
    <p className="small sum">
      Sums to the logit: <b>{measured(out.total)}</b> {equal ? "=" : "≠"} <b>{measured(out.logit)}</b>
      <span className="muted"> ({number(off)} apart)</span>
    </p>
  );
}

function useHeadValues(out: AttributionOut): Float32Array {
  return useMemo(() => Float32Array.from(decode(out.heads).values), [out.heads]);
}

function PartsMap({ out, sizes }: { out: AttributionOut; sizes: Sizes }) {
  const { select, head, model } = useLab();
  const values = useHeadValues(out);
  const most = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 1e-9);
  const [pointed, setPointed] = useState<number | null>(null);
  const selected = head ? indexOf(sizes, head) : null;
  const told = pointed ?? selected;
  return (
    <>
      <HeadCells sizes={sizes} kvHeads={model?.n_kv_heads ?? sizes.heads}>
        <div
          className="cells-grid"
          role="img"
          aria-label="Each head’s contribution: blue raises the token’s logit, red lowers it. The Table button shows the numbers."
          onPointerMove={(event) => setPointed(placeUnder(event.target))}
          onPointerLeave={() => setPointed(null)}
          onPointerDown={(event) => {
            const at = placeUnder(event.target);
            if (at !== null) select(headAt(sizes, at));
          }}
        >
          {Array.from(values, (value, at) => (
            <i
              key={at}
              data-at={at}
              className={at === selected ? "part-cell selected" : "part-cell"}
              style={{
                gridColumn: headAt(sizes, at).layer + 1,
                gridRow: headAt(sizes, at).head + 1,
                background: shade(value, most),
              }}
            />
          ))}
        </div>
      </HeadCells>
      <p className="small muted pointed" aria-live="polite">
        {told === null
          ? "Point at a head or select one to read its contribution."
          : partWords(sizes, told, values)}
      </p>
      <OtherParts out={out} values={values} />
    </>
  );
}

function placeUnder(target: EventTarget): number | null {
  const at = (target as HTMLElement).dataset.at;
  return at === undefined ? null : Number(at);
}

function partWords(sizes: Sizes, at: number, values: Float32Array): string {
  return `${headName(headAt(sizes, at))}: ${measured(values[at])}`;
}

/** Blue for, red against; the panel's own colour is nothing. */
function shade(value: number, most: number): string {
  const share = Math.round((100 * Math.abs(value)) / most);
  return `color-mix(in oklab, var(${value >= 0 ? "--needed" : "--harmful"}) ${share}%, var(--panel))`;
}

/** Embedding, MLPs and biases as bars on one scale, the heads together among them. */
function OtherParts({ out, values }: { out: AttributionOut; values: Float32Array }) {
  const heads = values.reduce((sum, value) => sum + value, 0);
  const mlps = out.parts.filter(({ name }) => /^mlp/.test(name));
  const others = out.parts.filter(({ name }) => !/^mlp/.test(name));
  const rows = [
    { title: "all heads", value: heads },
    ...(mlps.length > 0
      ? [{ title: mlps.length === 1 ? "MLP" : `${mlps.length} MLPs`, value: total(mlps) }]
      : []),
    ...others,
  ];
  const most = Math.max(...rows.map(({ value }) => Math.abs(value)), 1e-9);
  return (
    <ul className="parts-bars">
      {rows.map(({ title, value }) => (
        <li key={title}>
          <span>{title}</span>
          <span className="part-bar" aria-hidden="true">
            <i
              className={value >= 0 ? "for" : "against"}
              style={{ width: `${(50 * Math.abs(value)) / most}%` }}
            />
          </span>
          <span>{measured(value)}</span>
        </li>
      ))}
    </ul>
  );
}

function total(parts: { value: number }[]): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}

function PartsTable({ out, sizes }: { out: AttributionOut; sizes: Sizes }) {
  const values = useHeadValues(out);
  const { select } = useLab();
  const rows: { title: string; value: number; head?: Head }[] = [
    ...out.parts.map(({ title, value }) => ({ title, value })),
    ...Array.from(values, (value, at) => {
      const head = headAt(sizes, at);
      return { title: `head ${headName(head)}`, value, head };
    }),
  ].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="table-box" tabIndex={0} aria-label="Contributions to the logit">
      <table className="table">
        <thead>
          <tr>
            <th scope="col" className="words">
              part
            </th>
            <th scope="col">logit</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ title, value, head }) => (
            <tr key={title}>
              <th scope="row" className="words">
                {head ? (
                  <button type="button" className="link-button" onClick={() => select(head)}>
                    {title}
                  </button>
                ) : (
                  title
                )}
              </th>
              <td>{measured(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
