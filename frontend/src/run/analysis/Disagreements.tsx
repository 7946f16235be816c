import type { Disagreement, Figure } from "../../api/types";
import { measured } from "../../format/numbers";
import type { Selection } from "../../plot/Picture";
import { parseHead } from "../../url/view";

/** What a figure tells of heads on which methods disagree; empty for every other figure. */
export function toldOf(figure: Figure | undefined): Disagreement[] {
  return figure?.layout.meta?.disagreements ?? [];
}

/** The heads in dispute, in words: who finds each, who doesn't, and what would explain it. */
export function Disagreements({ figure, selection }: { figure: Figure | undefined; selection: Selection }) {
  const told = toldOf(figure);
  if (told.length === 0) return null;
  const titles = figure?.layout.meta?.methods ?? {};
  const words = (names: string[]) => names.map((name) => titles[name] ?? name).join(", ");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="card table-box disagreements" tabIndex={0} aria-label="Why the methods disagree">
      <table className="table">
        <caption className="visually-hidden">
          Heads that some methods find and others do not, with what would explain it
        </caption>
        <thead>
          <tr>
            <th scope="col">Head</th>
            <th scope="col">Found by</th>
            <th scope="col">Not found by</th>
            <th scope="col">What would explain it</th>
          </tr>
        </thead>
        <tbody>
          {told.map((each) => (
            <tr key={each.head}>
              <th scope="row">
                <button
                  type="button"
                  className="head-name"
                  title={`Select head ${each.head}`}
                  onClick={() => selection.onSelect(parseHead(each.head))}
                >
                  {each.head}
                </button>
              </th>
              <td data-label="Found by">
                {words(each.found)}
                {each.found.includes("gating") && (
                  <span className="muted small"> (gating in {measured(100 * each.seeds)} % of seeds)</span>
                )}
              </td>
              <td data-label="Not found by">{words(each.missed)}</td>
              <td>
                <ul className="whys">
                  {each.why.map(({ kind, text }) => (
                    <li key={kind}>
                      <strong>{worded(kind)}.</strong> {text}
                    </li>
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function worded(kind: string): string {
  const words = kind.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
