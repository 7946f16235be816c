import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client";
import { useResource } from "../api/resource";
import type { Figure, Run } from "../api/types";
import { ProblemNote } from "../parts/ProblemNote";
import { DownloadMenu, PictureTools, TableTwin } from "../plot/Picture";
import { RoleGrid } from "../plot/RoleGrid";
import { type Gates, gatesOf } from "../plot/roles";
import { rolesTable } from "../plot/tables";
import type { Head, View } from "../url/view";
import { FactsLine } from "./FactsLine";
import { HeadCard } from "./HeadCard";
import { Pictures } from "./Pictures";
import { ReproduceCard } from "./ReproduceCard";
import { ShareCards } from "./ShareCards";
import { ViewControls } from "./ViewControls";

interface RunBodyProps {
  run: Run;
  view: View;
  /** Put a view into the address; `replace` for what a slider passes through. */
  onView: (view: View, options?: { replace?: boolean }) => void;
  share: string | null;
  onRun: (run: Run) => void;
}

/** Follow the slider at once, and let the address catch up when it rests. */
function useFollowing(view: View, onView: RunBodyProps["onView"]): [View, (threshold: number) => void] {
  const [threshold, setThreshold] = useState(view.threshold);
  const latest = useRef({ view, onView });
  latest.current = { view, onView };
  useEffect(() => setThreshold(view.threshold), [view.threshold]);
  useEffect(() => {
    if (threshold === latest.current.view.threshold) return;
    const timer = setTimeout(
      () => latest.current.onView({ ...latest.current.view, threshold }, { replace: true }),
      250,
    );
    return () => clearTimeout(timer);
  }, [threshold]);
  return [useMemo(() => ({ ...view, threshold }), [view, threshold]), setThreshold];
}

/** A finished run: the grid, what it says in numbers, the head in hand and how to get it again. */
export function RunBody({ run, view, onView, share, onRun }: RunBodyProps) {
  const [followed, setThreshold] = useFollowing(view, onView);
  const result = useResource(
    `result ${run.id} ${share ?? ""}`,
    (signal) => api.result(run.id, share, signal),
    { fixed: true },
  );
  const figure = useResource(
    `figure ${run.id} roles`,
    (signal) => api.figure(run.id, "roles", { share }, signal),
    { fixed: true },
  );
  const read = useMemo(() => {
    if (!result.data) return undefined;
    try {
      return { gates: gatesOf(result.data) };
    } catch (error) {
      return { broken: error instanceof Error ? error.message : String(error) };
    }
  }, [result.data]);
  const passport = useRef<HTMLElement>(null);
  const select = useCallback(
    (head: Head | null) => onView({ ...view, head, passport: head !== null && view.passport }),
    [onView, view],
  );
  const open = useCallback(() => {
    onView({ ...view, passport: true });
    passport.current?.focus();
  }, [onView, view]);

  const error = result.error ?? figure.error;
  if (error && !(result.data && figure.data))
    return (
      <ProblemNote error={error} retry={() => [result, figure].forEach(({ reload }) => void reload())} />
    );
  if (read?.broken) return <ProblemNote problem={unreadable(read.broken)} retry={result.reload} />;
  const gates = read?.gates;
  return (
    <>
      <FactsLine run={run} result={result.data} />
      <div className="columns">
        <div className="main-column">
          <ViewControls view={followed} onView={onView} onThreshold={setThreshold} />
          <GridCard
            run={run}
            gates={gates}
            figure={figure.data}
            view={followed}
            share={share}
            onSelect={select}
            onOpen={open}
          />
          <ShareCards gates={gates} threshold={followed.threshold} />
          {gates && <Pictures run={run} view={followed} onView={onView} share={share} />}
        </div>
        <aside className="side-column" aria-label="Head and run">
          <HeadCard
            ref={passport}
            gates={gates}
            run={run}
            view={followed}
            onSelect={select}
            onView={onView}
          />
          <ReproduceCard run={run} readOnly={share !== null} onRun={onRun} />
        </aside>
      </div>
    </>
  );
}

function unreadable(detail: string) {
  return {
    type: "about:blank",
    title: "Unreadable result",
    status: 0,
    code: "unreadable-result",
    detail,
    remedy:
      "Reload the page; if it stays, the run's data is damaged: compute it again with Reproduce or from the command line.",
  };
}

interface GridCardProps {
  run: Run;
  gates: Gates | undefined;
  figure: Figure | undefined;
  view: View;
  share: string | null;
  onSelect: (head: Head | null) => void;
  onOpen: () => void;
}

function GridCard({ run, gates, figure, view, share, onSelect, onOpen }: GridCardProps) {
  const [asTable, setAsTable] = useState(false);
  const [drawn, setDrawn] = useState<Figure>();
  const source = {
    run: run.id,
    figure: "roles",
    share,
    view: { threshold: view.threshold, mode: view.mode },
  };
  return (
    <section className="card picture grid-card" aria-label="Roles of all heads">
      {!gates || !figure ? (
        <div className="skeleton grid-skeleton" role="status" aria-label="Loading the map" />
      ) : asTable ? (
        <TableTwin
          table={rolesTable(gates, view.threshold)}
          caption="Seeds in which each head has a role, and its mean scores"
        />
      ) : (
        <RoleGrid
          figure={figure}
          gates={gates}
          view={view}
          onSelect={onSelect}
          onOpen={onOpen}
          onFigure={setDrawn}
        />
      )}
      <footer className="picture-foot">
        <p className="caption">
          {gates ? <GridCaption view={view} gates={gates} grouped={isGrouped(figure)} /> : "…"}
        </p>
        <PictureTools asTable={asTable} setAsTable={setAsTable}>
          <DownloadMenu figure={drawn} source={source} />
        </PictureTools>
      </footer>
    </section>
  );
}

function isGrouped(figure: Figure | undefined): boolean {
  return Number(figure?.layout.meta?.heads_per_group ?? 1) > 1;
}

function GridCaption({ view, gates, grouped }: { view: View; gates: Gates; grouped: boolean }) {
  const brackets = grouped ? " Brackets join heads that share keys and values." : "";
  if (gates.seeds === 1) {
    return (
      <>
        Each cell is one head, fitted with one seed. A role in one fit is close to chance at the margin: use
        more seeds.{brackets}
      </>
    );
  }
  if (view.mode === "every") {
    return (
      <>
        Each cell is one head; its stripes are the seeds. A solid cell plays its role in{" "}
        <strong>every</strong> fit, a striped one only in some: the rest of the circuit can take over.
        {brackets}
      </>
    );
  }
  return view.mode === "always" ? (
    <>
      A cell has a colour where the head plays that role in <strong>every</strong> one of {gates.seeds} fits.
      {brackets}
    </>
  ) : (
    <>
      A cell has a colour where the head plays that role in <strong>at least one</strong> of {gates.seeds}{" "}
      fits.{brackets}
    </>
  );
}
