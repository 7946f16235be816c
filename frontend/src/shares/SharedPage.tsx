import { useQuery } from "@tanstack/react-query";
import { lazy, useCallback } from "react";
import { queries } from "../api/queries";
import type { Share } from "../api/types";
import { moment } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { useDeclareSubject } from "../parts/subject";
import { usePlotly } from "../plot/plotly";
import { hasResult } from "../results/hasResult";
import { RunSkeleton } from "../results/RunSkeleton";
import { RunState } from "../results/RunState";
import { titleText, titleWords } from "../results/RunTitle";
import { RunBody } from "../run/RunBody";
import { go, Link } from "../url/navigation";
import { type Place, parseView, type View } from "../url/view";

const SharedLabPage = lazy(() => import("../lab/SharedLabPage"));
const SharedComparison = lazy(() => import("../compare/SharedComparison"));

/** The view a share keeps. */
export function sharedView(share: Pick<Share, "view">): View {
  return parseView(new URLSearchParams(share.view));
}

/** A shared result, as its owner saw it; the reader may look round without changing the link. */
export default function SharedPage({ place }: { place: Extract<Place, { page: "shared" }> }) {
  const { token } = place;
  const { data: share, error, refetch } = useQuery(queries.share(token));
  usePlotly(share !== undefined && !share.lab);
  const run = share?.runs[0];
  const view = place.view ?? (share ? sharedView(share) : parseView(new URLSearchParams()));
  const onView = useCallback(
    (next: View, options?: { replace?: boolean }) => go({ page: "shared", token, view: next }, options),
    [token],
  );
  const comparison = share?.path === "/compare";
  useDeclareSubject(comparison ? undefined : run, view, token, `/s/${token}`);

  if (error?.status === 404 || error?.status === 410)
    return <Gone detail={error.problem.detail} remedy={error.problem.remedy} />;
  if (share && comparison && run) return <SharedComparison share={share} />;
  if (share?.lab) return <SharedLabPage share={share} shared={share.lab} />;
  if (!share || !run) {
    return (
      <div className="page">{error ? <ProblemNote error={error} retry={refetch} /> : <RunSkeleton />}</div>
    );
  }
  return (
    <div className="page">
      <p className="shared-frame">
        Shared result · made {moment(share.created_at)}
        {share.expires_at && ` · open until ${moment(share.expires_at)}`}
        {place.view && (
          <button
            type="button"
            className="link-button"
            onClick={() => go({ page: "shared", token, view: null })}
          >
            back to the view that was shared
          </button>
        )}
        <Link to={{ page: "run", id: run.id, view }}>open in Headscope</Link>
      </p>
      <h1>{titleText(titleWords(run))}</h1>
      {run.status !== "done" && <RunState run={run} readOnly onRun={() => void refetch()} />}
      {hasResult(run) && (
        <RunBody
          key={run.result}
          run={run}
          view={view}
          onView={onView}
          share={token}
          onRun={() => void refetch()}
        />
      )}
    </div>
  );
}

function Gone({ detail, remedy }: { detail: string; remedy: string }) {
  return (
    <div className="page narrow">
      <h1>This link no longer works</h1>
      <p>{detail}</p>
      <p className="muted">
        {remedy || "It may have expired or been revoked: ask whoever sent it for a new one."}
      </p>
      <Link className="button" to="/">
        To the atlas
      </Link>
    </div>
  );
}
