import { useState } from "react";
import type { Figure, MapWords, Run } from "../../api/types";
import { PictureTools } from "../../plot/Picture";
import { RoleGrid } from "../../plot/RoleGrid";
import { type Gates, wordsOf } from "../../plot/roles";
import { TableTwin } from "../../plot/TableTwin";
import type { Head, View } from "../../url/view";

interface GridCardProps {
  run: Run;
  gates: Gates | undefined;
  figure: Figure | undefined;
  view: View;
  share: string | null;
  onSelect: (head: Head | null) => void;
  onOpen: () => void;
  onTurn: () => void;
  /** The grid, or what stands in its place, is on the page. */
  onShown: () => void;
}

/** The role grid with its reading, its table twin and its downloads. */
export function GridCard({
  run,
  gates,
  figure,
  view,
  share,
  onSelect,
  onOpen,
  onTurn,
  onShown,
}: GridCardProps) {
  const [asTable, setAsTable] = useState(false);
  const [picture, setPicture] = useState<() => Figure>();
  const source = {
    run,
    figure: "roles",
    share,
    view: { threshold: view.threshold, mode: view.mode },
  };
  return (
    <section className="card picture grid-card" aria-label="Roles of all heads">
      {!gates || !figure ? (
        <div className="skeleton grid-skeleton" role="status" aria-label="Loading the map" />
      ) : asTable ? (
        <TableTwin source={source} caption="Scores and roles of each head" />
      ) : (
        <RoleGrid
          figure={figure}
          gates={gates}
          view={view}
          onSelect={onSelect}
          onOpen={onOpen}
          onFigure={(figure) => {
            setPicture(() => figure);
            onShown();
          }}
        />
      )}
      <footer className="picture-foot">
        <p className="caption">
          {gates && (
            <Reading view={view} seeds={gates.seeds} grouped={isGrouped(figure)} words={wordsOf(figure)} />
          )}
        </p>
        <PictureTools asTable={asTable} setAsTable={setAsTable} figure={picture} source={source}>
          <button
            type="button"
            className="button quiet"
            aria-pressed={view.turned}
            title="Layers run left to right, or top to bottom"
            onClick={onTurn}
          >
            Turn
          </button>
        </PictureTools>
      </footer>
    </section>
  );
}

function isGrouped(figure: Figure | undefined): boolean {
  return (figure?.layout.meta?.heads_per_group ?? 1) > 1;
}

interface ReadingProps {
  view: View;
  seeds: number;
  grouped: boolean;
  words: MapWords;
}

/** How to read the grid in the mode it is in. */
function Reading({ view, seeds, grouped, words }: ReadingProps) {
  const brackets = grouped ? " Brackets join heads that share keys and values." : "";
  if (seeds === 1) {
    return (
      <>
        Each cell is one head, fitted with one seed, and small because nothing is decided by it: the role in a
        single fit is close to chance near the threshold. Use more seeds.{brackets}
      </>
    );
  }
  switch (view.mode) {
    case "every":
      return (
        <>
          Each cell is one head; its stripes are the seeds, and where they disagree the rest of the circuit
          can take over. A full cell <strong>replicates</strong>: a new fit would give its role again. A
          smaller one leans to it, the smallest is undecided.{brackets}
        </>
      );
    case "always":
      return (
        <>
          A head has a colour only where <strong>every</strong> one of {seeds} seeds gave it that role; an
          empty cell means that the seeds disagree.{brackets}
        </>
      );
    case "any":
      return (
        <>
          A head has the colour of any role that <strong>some</strong> of {seeds} seeds gave it; violet means{" "}
          {words.roles[1]} and {words.roles[2]}, at once or in different seeds.{brackets}
        </>
      );
  }
}
