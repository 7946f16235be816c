import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { queries } from "../api/queries";
import type { Replication } from "../api/types";
import { CopyButton } from "../parts/CopyButton";
import { ProblemNote } from "../parts/ProblemNote";
import { Drawing } from "../plot/Picture";
import { came, correlation } from "./words";

/** Whether roles that replicate came again in fits of other seeds, pair by pair. */
export function RolesAgain() {
  const heading = useId();
  const pairs = useQuery(queries.replications());
  const figure = useQuery(queries.replicationFigure());
  return (
    <section className="card validation" aria-labelledby={heading}>
      <h2 id={heading}>Roles come again</h2>
      <p className="muted">
        Two sets of fits with seeds that the other never saw judge each other: of the heads whose role
        replicates by one set, how many have it in at least eight of ten of the other’s fits? The goal is nine
        in ten.
      </p>
      {pairs.error && <ProblemNote error={pairs.error} retry={pairs.refetch} />}
      {figure.error && <ProblemNote error={figure.error} retry={figure.refetch} />}
      {(pairs.isLoading || figure.isLoading) && (
        <div className="skeleton page-skeleton" role="status" aria-label="Loading the pairs" />
      )}
      {figure.data && <Drawing figure={figure.data} label="Is what is said of a new fit true?" />}
      {figure.data?.layout.meta?.reading && <p className="caption">{figure.data.layout.meta.reading}</p>}
      {pairs.data?.map((pair) => (
        <PairTable key={`${pair.model} ${pair.task}`} pair={pair} />
      ))}
    </section>
  );
}

function PairTable({ pair }: { pair: Replication }) {
  return (
    <>
      <div className="table-box">
        <table className="table">
          <caption>
            {pair.model}, {pair.task}: {pair.fits} fits a set
            {pair.steering && "; a steering map, since the model can’t do the task"}
          </caption>
          <thead>
            <tr>
              <th className="words">role</th>
              <th>replicates, both sets</th>
              <th>came again</th>
              <th>halves of a set correlate</th>
              <th>the sets correlate</th>
            </tr>
          </thead>
          <tbody>
            {pair.roles.map((one) => (
              <tr key={one.role}>
                <th scope="row" className="words">
                  {one.title}
                </th>
                <td>{one.called}</td>
                <td className={one.kept !== null && one.kept < 0.9 ? "missed" : undefined}>{came(one)}</td>
                <td>{one.halves.map(correlation).join(" / ")}</td>
                <td>{correlation(one.across)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="command">
        <code>{pair.command}</code> <CopyButton text={pair.command} />
      </p>
    </>
  );
}
