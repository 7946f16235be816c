import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../api/client";
import { type ApiError, asApiError } from "../api/errors";
import { queries } from "../api/queries";
import type { Share, ShareRequest } from "../api/types";
import { moment } from "../format/numbers";
import { settingParameters } from "../url/compare";
import { viewParameters } from "../url/view";
import { CopyButton } from "./CopyButton";
import { Dialog } from "./Dialog";
import { ProblemNote } from "./ProblemNote";
import type { Subject } from "./subject";

/** `quiet` where a page has several. */
export function ShareButton({ subject, quiet = false }: { subject: Subject; quiet?: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className={quiet ? "button quiet" : "button primary"}
        onClick={() => setOpen(true)}
      >
        Share
      </button>
      {open && <ShareDialog subject={subject} onClose={() => setOpen(false)} />}
    </>
  );
}

type Visibility = Share["visibility"];

const WHO: Record<Visibility, string> = {
  unlisted: "Anyone with the link",
  public: "Anyone, and listed publicly",
  private: "Only people who are signed in",
};

const EXPIRY: [string, number | null][] = [
  ["never", null],
  ["in a day", 1],
  ["in a week", 7],
  ["in 30 days", 30],
  ["in a year", 365],
];

const LINKS: Record<Subject["kind"], string> = {
  lab: "Links to views of the lab",
  run: "Links to this run",
  compare: "Links to comparisons of these runs",
};

/** What is kept under the link. */
function asked(subject: Subject): ShareRequest {
  if (subject.kind === "lab") return { lab: subject.lab, view: subject.view, path: "/lab" };
  if (subject.kind === "compare")
    return { run_ids: [...subject.runs], view: settingParameters(subject.comparison), path: "/compare" };
  return { run_ids: [subject.run.id], view: viewParameters(subject.view), path: subject.path };
}

/** Links made before to the same run, to comparisons of the same runs, or to views of the lab. */
function isOf(subject: Subject, share: Share): boolean {
  if (subject.kind === "lab") return share.run_ids.length === 0 && share.path === "/lab";
  if (subject.kind === "compare")
    return share.path === "/compare" && subject.runs.every((run) => share.run_ids.includes(run));
  return share.run_ids.includes(subject.run.id);
}

function ShareDialog({ subject, onClose }: { subject: Subject; onClose: () => void }) {
  const [visibility, setVisibility] = useState<Visibility>("unlisted");
  const [days, setDays] = useState<number | null>(null);
  const [made, setMade] = useState<Share | null>(null);
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const existing = useQuery(queries.shares());
  const mine =
    existing.data?.filter(
      (share) => !share.revoked_at && isOf(subject, share) && share.token !== made?.token,
    ) ?? [];

  const create = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      setMade(await api.addShare({ ...asked(subject), visibility, expires_in_days: days }));
      void existing.refetch();
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog title="Share this view" onClose={onClose}>
      {subject.kind === "lab" ? (
        <>
          <p className="muted">
            The link opens this prompt with its tokens, every head’s pattern, the gates and what they do, as
            they are now. Viewing it needs no model.
          </p>
          <p className="notice">Whoever has the link can read the prompt’s text.</p>
        </>
      ) : (
        <p className="muted">
          {subject.kind === "compare"
            ? "The link opens this comparison as it is now, and lets its reader see each of its runs. The results behind it never change."
            : "The link opens this result with the view as it is now: threshold, mode and selected head. The result behind it never changes."}
        </p>
      )}
      <form className="share-form" onSubmit={create}>
        <label className="field">
          Who can open it
          <select value={visibility} onChange={(event) => setVisibility(event.target.value as Visibility)}>
            {Object.entries(WHO).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          Expires
          <select
            value={days ?? ""}
            onChange={(event) => setDays(event.target.value ? Number(event.target.value) : null)}
          >
            {EXPIRY.map(([text, value]) => (
              <option key={text} value={value ?? ""}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" className="button primary" disabled={busy}>
          {busy ? "Creating…" : "Create link"}
        </button>
      </form>
      {error && <ProblemNote error={error} />}
      {made && (
        <div className="share-made" role="status">
          <input
            className="mono"
            readOnly
            aria-label="The link"
            value={made.url}
            onFocus={(event) => event.target.select()}
          />
          <CopyButton text={made.url} label="Copy link" />
        </div>
      )}
      {made && isLocal(made.url) && (
        <p className="muted small">
          This address works on this computer only. To show someone else,{" "}
          {subject.kind === "lab" ? "export its picture or its numbers" : "export the page as one HTML file"},
          or run Headscope where they can reach it.
        </p>
      )}
      {mine.length > 0 && (
        <Existing title={LINKS[subject.kind]} shares={mine} reload={existing.refetch} onError={setError} />
      )}
    </Dialog>
  );
}

function isLocal(url: string): boolean {
  try {
    return /^(localhost|127\.|\[::1\])/.test(new URL(url, window.location.origin).hostname);
  } catch {
    return false;
  }
}

interface ExistingProps {
  title: string;
  shares: Share[];
  reload: () => void;
  onError: (error: ApiError) => void;
}

function Existing({ title, shares, reload, onError }: ExistingProps) {
  const revoke = async (token: string) => {
    try {
      await api.revokeShare(token);
    } catch (thrown) {
      onError(asApiError(thrown));
    }
    reload();
  };
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul className="share-list">
        {shares.map((share) => (
          <li key={share.token}>
            <a className="mono" href={share.url}>
              /s/{share.token.slice(0, 8)}…
            </a>
            <span className="muted">{shareState(share)}</span>
            {!share.revoked_at && (
              <button type="button" className="button quiet" onClick={() => void revoke(share.token)}>
                Revoke
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function shareState(share: Share, now: Date = new Date()): string {
  if (share.revoked_at) return `revoked ${moment(share.revoked_at)}`;
  if (share.expires_at && new Date(share.expires_at) < now) return `expired ${moment(share.expires_at)}`;
  const until = share.expires_at ? ` · until ${moment(share.expires_at)}` : "";
  return `${share.visibility} · made ${moment(share.created_at)}${until}`;
}
