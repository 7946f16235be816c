import { type Ref, useMemo } from "react";
import type { Figure, MapWords, Run } from "../../api/types";
import { measured, percent } from "../../format/numbers";
import { HeadTitle } from "../../parts/HeadTitle";
import { capital, type Gates, type HeadSummary, mainRole, summarise } from "../../plot/roles";
import { HeadLinks } from "../../results/HeadLinks";
import type { Head, View } from "../../url/view";
import { HeadNames } from "../HeadNames";
import { HeadVerdicts } from "./Replicates";

interface HeadCardProps {
  ref: Ref<HTMLElement>;
  gates: Gates | undefined;
  run: Run;
  words: MapWords;
  view: View;
  /** The figure of replication, at its own threshold. */
  replication: Figure | undefined;
  onSelect: (head: Head | null) => void;
  onView: (view: View) => void;
  /** Lead to where the head can be tried: not for guests. */
  links: boolean;
}

/** The selected head: its gates seed by seed, its scores; opened, everything that is known of it. */
export function HeadCard({
  ref,
  gates,
  run,
  words,
  view,
  replication,
  onSelect,
  onView,
  links,
}: HeadCardProps) {
  const { head, threshold } = view;
  const inside = gates && head && head.layer < gates.layers && head.head < gates.heads;
  const summary = useMemo(
    () => (inside ? summarise(gates, head, threshold) : null),
    [inside, gates, head, threshold],
  );
  return (
    <section ref={ref} className="card head-card" tabIndex={-1} aria-label="Selected head">
      {!summary || !head ? (
        <NoHead gates={gates} head={head} />
      ) : (
        <>
          <HeadTitle head={head} onDeselect={() => onSelect(null)} />
          <p className="chips">
            <Role summary={summary} words={words} />
            <KvGroup run={run} head={head} />
          </p>
          {replication?.layout.meta?.threshold === threshold && (
            <HeadVerdicts words={words} summary={summary} figure={replication} />
          )}
          <GateDots summary={summary} threshold={threshold} />
          <Scores summary={summary} words={words} />
          {view.passport && <SeedTable summary={summary} run={run} words={words} />}
          <div className="card-actions">
            <button
              type="button"
              className="button"
              aria-expanded={view.passport}
              onClick={() => onView({ ...view, passport: !view.passport })}
            >
              {view.passport ? "Close details" : "Open details"}
            </button>
          </div>
          {links && <HeadNames run={run} head={head} />}
          {links && <HeadLinks model={run.model} head={head} />}
        </>
      )}
    </section>
  );
}

function NoHead({ gates, head }: { gates: Gates | undefined; head: Head | null }) {
  if (gates && head) {
    return (
      <p className="muted">
        There is no head {head.layer}.{head.head}: layers run 0–{gates.layers - 1}, heads 0–{gates.heads - 1}.
      </p>
    );
  }
  return (
    <>
      <h2>No head selected</h2>
      <p className="muted">
        Click a cell of the map, or focus it and use the arrow keys, to see what that head is for. Enter opens
        its details.
      </p>
    </>
  );
}

interface WordedProps {
  summary: HeadSummary;
  words: MapWords;
}

function Role({ summary, words }: WordedProps) {
  const { code, text } = mainRole(summary, words);
  return (
    <span className="chip" title={words.terms[code]}>
      <i className={`swatch role-${code}`} />
      {text}
    </span>
  );
}

function KvGroup({ run, head }: { run: Run; head: Head }) {
  const heads = Number(run.model_info?.n_heads);
  const groups = Number(run.model_info?.n_kv_heads);
  if (!(groups > 0) || groups >= heads) return null;
  const size = heads / groups;
  const group = Math.floor(head.head / size);
  return (
    <span
      className="chip"
      title={`Heads ${group * size}–${(group + 1) * size - 1} of this layer share keys and values`}
    >
      kv group {group}
    </span>
  );
}

const WIDTH = 260;
const LEFT = 96;
const RIGHT = 8;

/** Both gates on a line from shut (0) to open (1), a dot for each seed; the dotted line is the threshold. */
function GateDots({ summary, threshold }: { summary: HeadSummary; threshold: number }) {
  const place = (value: number) => LEFT + value * (WIDTH - LEFT - RIGHT);
  const lanes = [
    { label: "G− pushed shut", values: summary.minus, y: 18, limit: threshold },
    { label: "G+ pushed open", values: summary.plus, y: 48, limit: 1 - threshold },
  ];
  return (
    <svg className="gate-dots" viewBox={`0 0 ${WIDTH} 72`} role="img" aria-label={dotsInWords(summary)}>
      {lanes.map(({ label, values, y, limit }) => (
        <g key={label}>
          <text x="0" y={y + 4}>
            {label}
          </text>
          <line x1={LEFT} x2={WIDTH - RIGHT} y1={y} y2={y} className="lane" />
          <line x1={place(limit)} x2={place(limit)} y1={y - 11} y2={y + 11} className="limit" />
          {values.map((value, seed) =>
            Number.isFinite(value) ? (
              <circle key={seed} cx={place(value)} cy={y} r="5" className={`role-${summary.codes[seed]}`}>
                <title>{`seed ${seed}: ${percent(value)} open`}</title>
              </circle>
            ) : null,
          )}
        </g>
      ))}
      <text x={LEFT} y="70" className="end">
        shut
      </text>
      <text x={WIDTH - RIGHT} y="70" textAnchor="end" className="end">
        open
      </text>
    </svg>
  );
}

function dotsInWords(summary: HeadSummary): string {
  const list = (values: number[]) => values.map((value) => measured(value)).join(", ");
  return `Gates by seed. G minus, pushed shut: ${list(summary.minus)}. G plus, pushed open: ${list(summary.plus)}.`;
}

function Scores({ summary: { means, counts, seeds }, words }: WordedProps) {
  const rows: [string, string, number][] = [
    [capital(words.scores.facilitation), "facilitation: mean of G−", means.facilitation],
    [capital(words.scores.interference), "interference: mean of 1 − G+", means.interference],
    [capital(words.scores.irrelevance), "irrelevance: mean of G+ (1 − G−)", means.irrelevance],
  ];
  return (
    <dl className="facts-list">
      {rows.map(([label, title, value]) => (
        <div key={label} title={title}>
          <dt>{label} · mean score</dt>
          <dd>{measured(value)}</dd>
        </div>
      ))}
      <div>
        <dt>Seeds by role</dt>
        <dd className="role-counts">
          {[1, 3, 2, 4, 0]
            .filter((code) => (counts[code] ?? 0) > 0)
            .map((code) => (
              <span key={code} title={`${words.roles[code]} in ${counts[code]} of ${seeds} seeds`}>
                <i className={`swatch role-${code}`} />
                {counts[code]}
                <span className="visually-hidden"> {words.roles[code]}</span>
              </span>
            ))}
        </dd>
      </div>
    </dl>
  );
}

function SeedTable({ summary, run, words }: WordedProps & { run: Run }) {
  return (
    <div className="table-box">
      <table className="table">
        <caption>Seed by seed</caption>
        <thead>
          <tr>
            <th scope="col">seed</th>
            <th scope="col">G−</th>
            <th scope="col">G+</th>
            <th scope="col">role</th>
          </tr>
        </thead>
        <tbody>
          {summary.codes.map((code, at) => (
            <tr key={at}>
              <th scope="row">{run.seeds[at] ?? at}</th>
              <td>{measured(summary.minus[at])}</td>
              <td>{measured(summary.plus[at])}</td>
              <td className="words">
                {Number.isFinite(summary.plus[at]) ? (
                  <>
                    <i className={`swatch role-${code}`} /> {words.roles[code]}
                  </>
                ) : (
                  "no fit"
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
