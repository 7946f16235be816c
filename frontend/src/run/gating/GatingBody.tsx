import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import { queries } from "../../api/queries";
import type { Figure, Problem, Result } from "../../api/types";
import { ProblemNote } from "../../parts/ProblemNote";
import { type Gates, gatesOf, roleCodes, UNDECIDED, wordsOf } from "../../plot/roles";
import { Caveats } from "../../results/Caveats";
import { useFollowing } from "../../url/useFollowing";
import type { Head } from "../../url/view";
import { NextSteps } from "../NextSteps";
import { ReproduceCard } from "../ReproduceCard";
import type { RunBodyProps } from "../RunBody";
import { Ability } from "./Ability";
import { AnotherFit } from "./AnotherFit";
import { FactsLine } from "./FactsLine";
import { GridCard } from "./GridCard";
import { HeadCard } from "./HeadCard";
import { Pictures, ScoreMap, useFigure } from "./Pictures";
import { Replicates } from "./Replicates";
import { RoleShareCards } from "./RoleShareCards";
import { ViewControls } from "./ViewControls";

type Read = { gates: Gates } | { broken: Problem } | undefined;

/** The result's gates, or why they can't be read. */
function useGates(result: Result | undefined): Read {
  return useMemo(() => {
    if (!result) return undefined;
    try {
      return { gates: gatesOf(result) };
    } catch (error) {
      return { broken: unreadable(error instanceof Error ? error.message : String(error)) };
    }
  }, [result]);
}

function unreadable(detail: string): Problem {
  return {
    type: "about:blank",
    title: "Unreadable result",
    status: 0,
    code: "unreadable-result",
    detail,
    remedy: "Reload the page; if it stays, the run's data is damaged: compute it again with Reproduce.",
  };
}

/** Finished causal head gating: the grid, what it says in numbers, the selected head, how to get it again. */
export function GatingBody({ run, view, onView, share, onRun }: RunBodyProps) {
  const [followed, setThreshold] = useFollowing(view, onView);
  const result = useQuery(queries.result(run, { share }));
  const figure = useQuery(queries.figure(run, "roles", { share }));
  const read = useGates(result.data);
  const gates = read && "gates" in read ? read.gates : undefined;
  const [shown, setShown] = useState(false);
  // The grid first: how sure it is comes after.
  const seeds = useFigure(run, "seeds", share, { threshold: followed.threshold }, shown);
  const replication = useFigure(run, "replication", share, { threshold: followed.threshold }, shown);
  const heldout = useFigure(run, "heldout", share, {}, shown);
  const roles = useVerdicts(figure.data, replication.data);
  const passport = useRef<HTMLElement>(null);
  const select = useCallback(
    (head: Head | null) => onView({ ...view, head, passport: head !== null && view.passport }),
    [onView, view],
  );
  const open = useCallback(() => {
    onView({ ...view, passport: true });
    passport.current?.focus();
  }, [onView, view]);
  const undecided = useMemo(
    () => gates !== undefined && roleCodes(gates, followed.threshold).includes(UNDECIDED),
    [gates, followed.threshold],
  );

  const error = result.error ?? figure.error;
  if (error && !(result.data && figure.data)) {
    return (
      <ProblemNote error={error} retry={() => [result, figure].forEach(({ refetch }) => void refetch())} />
    );
  }
  if (read && "broken" in read) return <ProblemNote problem={read.broken} retry={result.refetch} />;
  const small = isSmall(figure.data);
  const words = wordsOf(figure.data);
  const caution = heldout.data?.layout.meta?.caution;
  const canAdd = share === null && run.status === "done";
  const grid = (
    <GridCard
      run={run}
      gates={gates}
      figure={roles}
      view={followed}
      share={share}
      onSelect={select}
      onOpen={open}
      onTurn={() => onView({ ...view, turned: !view.turned })}
      onShown={() => setShown(true)}
    />
  );
  return (
    <>
      <FactsLine run={run} result={result.data} words={words} />
      <Ability figure={figure.data} />
      <div className="columns">
        <div className="main-column">
          <ViewControls
            view={followed}
            onView={onView}
            onThreshold={setThreshold}
            undecided={undecided}
            words={words}
          />
          {small ? (
            <div className="pictures">
              {grid}
              {shown && <ScoreMap run={run} view={followed} onView={onView} share={share} words={words} />}
            </div>
          ) : (
            grid
          )}
          <Replicates run={run} figure={replication.data} seeds={seeds.data} words={words} canAdd={canAdd} />
          <RoleShareCards gates={gates} threshold={followed.threshold} seeds={seeds.data} words={words} />
          <Caveats runs={[run]} share={share} caution={caution} />
          {caution !== undefined && canAdd && !run.params.binarise && (
            <p>
              <AnotherFit
                run={run}
                change={{ binarise: true }}
                title="A new run whose last phase anneals the gates to 0 or 1; it takes two thirds more updates"
              >
                Fit again, ending with open or shut
              </AnotherFit>
            </p>
          )}
          {/* The grid first: what is below it is drawn when it stands. */}
          {shown && (
            <Pictures
              run={run}
              view={followed}
              onView={onView}
              share={share}
              words={words}
              withMap={!small}
              seeds={seeds}
              replication={replication}
            />
          )}
        </div>
        <aside className="side-column" aria-label="Head and run">
          <HeadCard
            ref={passport}
            gates={gates}
            run={run}
            words={words}
            view={followed}
            replication={replication.data}
            onSelect={select}
            onView={onView}
            links={share === null}
          />
          {share === null && <NextSteps run={run} />}
          <ReproduceCard run={run} share={share} onRun={onRun} />
        </aside>
      </div>
    </>
  );
}

/** The grid's figure with the verdicts of the threshold that the hand is at, once they are there. */
function useVerdicts(grid: Figure | undefined, replication: Figure | undefined): Figure | undefined {
  const verdicts = replication?.layout.meta?.verdicts;
  return useMemo(() => {
    if (!grid || !verdicts) return grid;
    const { layout } = grid;
    return { ...grid, layout: { ...layout, meta: { ...layout.meta, verdicts } } } as Figure;
  }, [grid, verdicts]);
}

/** Whether the grid leaves room for another beside it: a model of few layers. */
function isSmall(figure: Figure | undefined): boolean {
  return (figure?.layout.meta?.max_width ?? Number.POSITIVE_INFINITY) < 480;
}
