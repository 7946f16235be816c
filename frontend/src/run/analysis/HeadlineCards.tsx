import { Fragment } from "react";
import type { Run } from "../../api/types";
import type { Selection } from "../../plot/Picture";
import { factsOf } from "../../results/headline";
import { headName } from "../../url/view";

/** A run's few numbers; a head among them is selected by a click. */
export function HeadlineCards({ run, selection }: { run: Run; selection: Selection }) {
  const facts = factsOf(run);
  if (facts.length === 0) return null;
  return (
    <dl className="number-cards headline-cards">
      {facts.map(({ name, label, text, heads, between }) => (
        <div className="card number-card" key={name}>
          <dt>{label}</dt>
          <dd className={text.length > 12 ? "long" : ""}>
            {heads.length > 0
              ? heads.map((head, i) => (
                  <Fragment key={headName(head)}>
                    {i > 0 && between && <span className="muted">{between} </span>}
                    <button
                      type="button"
                      className="head-name"
                      title={`Select layer ${head.layer}, head ${head.head}`}
                      onClick={() => selection.onSelect(head)}
                    >
                      {headName(head)}
                    </button>
                  </Fragment>
                ))
              : text}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The same in one line, for lists. */
export function HeadlineLine({ run }: { run: Run }) {
  const facts = factsOf(run).slice(0, 3);
  return (
    <span className="muted small">{facts.map(({ label, text }) => `${label} ${text}`).join(" · ")}</span>
  );
}
