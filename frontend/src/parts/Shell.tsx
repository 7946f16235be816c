import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { useConnection } from "../api/connection";
import { queries } from "../api/queries";
import { DEFAULT_COMPARE } from "../url/compare";
import { DEFAULT_LAB } from "../url/lab";
import { Link, usePlace } from "../url/navigation";
import { DEFAULT_CIRCUITS, DEFAULT_VIEW, type Place } from "../url/view";
import { ExportMenu } from "./ExportMenu";
import { Logo } from "./Logo";
import { Menu, MenuItem } from "./Menu";
import { ShareButton } from "./ShareDialog";
import { type Subject, useSubject } from "./subject";
import { CHOICES, useTheme } from "./theme";

const PAGES: { text: string; to: Place; pages: Place["page"][] }[] = [
  { text: "Atlas", to: { page: "atlas", model: null, task: null, view: DEFAULT_VIEW }, pages: ["atlas"] },
  { text: "Prompt lab", to: { page: "lab", ...DEFAULT_LAB }, pages: ["lab"] },
  {
    text: "Circuits",
    to: { page: "circuits", model: null, circuits: DEFAULT_CIRCUITS },
    pages: ["circuits"],
  },
  {
    text: "Test a circuit",
    to: { page: "circuit-test", model: null, task: null, preset: null, params: {} },
    pages: ["circuit-test"],
  },
  { text: "Compare", to: { page: "compare", ...DEFAULT_COMPARE }, pages: ["compare"] },
  {
    text: "Runs",
    to: { page: "runs", model: null, task: null, analysis: null, status: null },
    pages: ["runs", "run", "new"],
  },
  { text: "Tasks", to: { page: "tasks" }, pages: ["tasks", "task"] },
  { text: "Models", to: { page: "models" }, pages: ["models", "model"] },
  { text: "Validation", to: { page: "validation" }, pages: ["validation"] },
];

const THEME_TEXT = { system: "Same as system", light: "Light", dark: "Dark" } as const;

export function Shell({ children }: { children: ReactNode }) {
  const place = usePlace();
  const subject = useSubject();
  const main = useFocusOnNewPage(place.page);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <Link to="/" className="brand" aria-label="Headscope, to the atlas">
          <Logo />
          <span>Headscope</span>
        </Link>
        <nav aria-label="Pages" className="nav">
          {PAGES.map(({ text, to, pages }) => (
            <Link key={text} to={to} aria-current={pages.includes(place.page) ? "page" : undefined}>
              {text}
            </Link>
          ))}
        </nav>
        <div className="top-tools">
          <ThemeMenu />
          {subject && complete(subject) && <ExportMenu subject={subject} />}
          {subject && complete(subject) && mayShare(subject) && <ShareButton subject={subject} />}
        </div>
      </header>
      <Offline />
      <main id="main" tabIndex={-1} ref={main}>
        {children}
      </main>
    </>
  );
}

function complete(subject: Subject): boolean {
  return subject.kind !== "run" || subject.run.status === "done" || subject.run.partial;
}

/** What came through a link is passed on by that link. */
function mayShare(subject: Subject): boolean {
  return subject.kind === "lab" ? subject.lab !== null : subject.share === null;
}

/** Another page takes the focus, as a page that a browser loads does; the first one leaves it alone. */
function useFocusOnNewPage(page: Place["page"]) {
  const main = useRef<HTMLElement>(null);
  const last = useRef(page);
  useEffect(() => {
    if (last.current !== page) main.current?.focus({ preventScroll: true });
    last.current = page;
  }, [page]);
  return main;
}

function ThemeMenu() {
  const { choice, choose } = useTheme();
  return (
    <Menu label="◐" name="Light or dark" title="Light or dark">
      {CHOICES.map((option) => (
        <MenuItem key={option} checked={option === choice} onSelect={() => choose(option)}>
          {THEME_TEXT[option]}
        </MenuItem>
      ))}
    </Menu>
  );
}

/** A heartbeat, slow while the server answers and quick while it doesn't, and the banner that says so. */
function Offline() {
  const { online } = useConnection();
  useQuery({ ...queries.health(), refetchInterval: online ? 15_000 : 2_500 });
  useEffect(() => {
    document.documentElement.classList.toggle("is-offline", !online);
  }, [online]);
  if (online) return null;
  return (
    <div className="banner" role="status">
      The Headscope server doesn’t answer. What is shown stays; restart it with <code>headscope serve</code>,
      and this page reconnects by itself.
    </div>
  );
}
