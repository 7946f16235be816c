// What the address bar holds. Everything that decides what a page shows is here and nowhere else:
// reload, the back button and a pasted link give the same view.
import { type CompareView, compareParameters, parseCompare } from "./compare";
import { type Head, headName, parseHead } from "./heads";
import { type LabView, labParameters, parseLab } from "./lab";

export { type Head, headName, parseHead } from "./heads";

export const MODES = ["every", "always", "any"] as const;
export type Mode = (typeof MODES)[number];

export const SCORES = ["facilitation", "interference", "irrelevance"] as const;
export type Score = (typeof SCORES)[number];

/** How a run is looked at. The defaults are left out of the address. */
export interface View {
  mode: Mode;
  /** A head has a role where its score is at least this; above 0 and up to 1, two decimals. */
  threshold: number;
  head: Head | null;
  /** The selected head's details are open. */
  passport: boolean;
  /** Which score map is shown. */
  score: Score;
  /** Layers run top to bottom instead of left to right. */
  turned: boolean;
}

export const DEFAULT_VIEW: View = {
  mode: "every",
  threshold: 0.5,
  head: null,
  passport: false,
  score: "facilitation",
  turned: false,
};

/** What a new run starts from. */
export interface NewRun {
  analysis: string | null;
  model: string | null;
  task: string | null;
  preset: string | null;
  /** Parameters that are filled in already, as they would be typed: the run that is built on, say. */
  params: Record<string, string>;
}

export const NEW_RUN: NewRun = { analysis: null, model: null, task: null, preset: null, params: {} };

export const COMPOSITIONS = ["q", "k", "v"] as const;
export type Composition = (typeof COMPOSITIONS)[number];

/** How a model's circuits are looked at. */
export interface CircuitsView {
  head: Head | null;
  /** The weight processing that is shown; two are never mixed. Null: whichever there is. */
  weights: string | null;
  /** All heads, or what is known of the selected one. */
  tab: "heads" | "head";
  composition: Composition;
  /** The graph draws pairs of at least this share of the strongest, above 0 and up to 1, two decimals. */
  threshold: number;
  /** The token whose cells of the head's tables are shown; null: the strongest of all. */
  token: number | null;
  /** The two components whose virtual weights are shown, as the API names them: "0.3" and "1.5 k". */
  virtual: { writer: string; reader: string } | null;
}

export const DEFAULT_CIRCUITS: CircuitsView = {
  head: null,
  weights: null,
  tab: "heads",
  composition: "k",
  threshold: 0.5,
  token: null,
  virtual: null,
};

export type Place =
  | { page: "atlas"; model: string | null; task: string | null; view: View }
  | ({ page: "lab" } & LabView)
  | { page: "run"; id: string; view: View }
  | { page: "shared"; token: string; view: View | null }
  | ({ page: "new" } & NewRun)
  | {
      page: "runs";
      model: string | null;
      task: string | null;
      analysis: string | null;
      status: string | null;
    }
  | ({ page: "circuit-test" } & Omit<NewRun, "analysis">)
  | ({ page: "compare" } & CompareView)
  | { page: "circuits"; model: string | null; circuits: CircuitsView }
  | { page: "tasks" }
  | { page: "task"; name: string; model: string | null; split: "train" | "test" }
  | { page: "models" }
  | { page: "validation" }
  | { page: "model"; name: string }
  | { page: "sign-in"; next: string }
  | { page: "not-found"; path: string };

function oneOf<T extends string>(values: readonly T[], text: string | null, otherwise: T): T {
  return values.find((value) => value === text) ?? otherwise;
}

function parseThreshold(text: string | null): number {
  const value = text === null || text.trim() === "" ? Number.NaN : Number(text);
  return value >= 0.005 && value <= 1 ? Math.round(value * 100) / 100 : DEFAULT_VIEW.threshold;
}

export function parseView(search: URLSearchParams): View {
  const head = parseHead(search.get("head"));
  return {
    mode: oneOf(MODES, search.get("mode"), DEFAULT_VIEW.mode),
    threshold: parseThreshold(search.get("threshold")),
    head,
    passport: head !== null && search.get("passport") === "open",
    score: oneOf(SCORES, search.get("score"), DEFAULT_VIEW.score),
    turned: search.get("layers") === "down",
  };
}

/** The view as URL parameters; also what a share keeps. */
export function viewParameters(view: View): Record<string, string> {
  const parameters: Record<string, string> = {};
  if (view.mode !== DEFAULT_VIEW.mode) parameters.mode = view.mode;
  if (view.threshold !== DEFAULT_VIEW.threshold) parameters.threshold = view.threshold.toFixed(2);
  if (view.head) parameters.head = headName(view.head);
  if (view.head && view.passport) parameters.passport = "open";
  if (view.score !== DEFAULT_VIEW.score) parameters.score = view.score;
  if (view.turned) parameters.layers = "down";
  return parameters;
}

function parseCircuits(search: URLSearchParams): CircuitsView {
  const token = search.get("token") ?? "";
  const head = parseHead(search.get("head"));
  const [writer, reader] = [search.get("writer"), search.get("reader")];
  return {
    head,
    weights: search.get("weights") || null,
    tab: head !== null && search.get("tab") === "head" ? "head" : "heads",
    composition: oneOf(COMPOSITIONS, search.get("composition"), DEFAULT_CIRCUITS.composition),
    threshold: parseThreshold(search.get("threshold")),
    token: /^\d{1,7}$/.test(token) ? Number(token) : null,
    virtual: writer && reader ? { writer, reader } : null,
  };
}

function circuitsParameters(view: CircuitsView): Record<string, string | null> {
  return {
    head: view.head && headName(view.head),
    weights: view.weights,
    tab: view.tab === "head" ? view.tab : null,
    composition: view.composition === DEFAULT_CIRCUITS.composition ? null : view.composition,
    threshold: view.threshold === DEFAULT_CIRCUITS.threshold ? null : view.threshold.toFixed(2),
    token: view.token === null ? null : String(view.token),
    writer: view.virtual?.writer ?? null,
    reader: view.virtual?.reader ?? null,
  };
}

const PARAMETER = "param.";

function parseParams(search: URLSearchParams): Record<string, string> {
  const named = [...search].filter(([name, value]) => name.startsWith(PARAMETER) && value !== "");
  return Object.fromEntries(named.map(([name, value]) => [name.slice(PARAMETER.length), value]));
}

function formatParams(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [PARAMETER + name, value]));
}

function parseRequest(search: URLSearchParams): Omit<NewRun, "analysis"> {
  const text = (name: string): string | null => search.get(name) || null;
  return { model: text("model"), task: text("task"), preset: text("preset"), params: parseParams(search) };
}

function formatRequest({ model, task, preset, params }: Omit<NewRun, "analysis">) {
  return { model, task, preset, ...formatParams(params) };
}

function segments(path: string): string[] {
  return path
    .split("/")
    .filter((part) => part !== "")
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

/** Where an address leads. Never throws: an unknown one is a not-found page. */
export function parsePlace(address: string): Place {
  // Not the URL class: it throws for "//", which a reader may well type.
  const [path = "/", query = ""] = (address.split("#")[0] ?? "").split(/\?(.*)/s);
  const search = new URLSearchParams(query);
  const [first, second, ...rest] = segments(path);
  const text = (name: string): string | null => search.get(name) || null;
  if (rest.length === 0) {
    if (first === undefined)
      return { page: "atlas", model: text("model"), task: text("task"), view: parseView(search) };
    if (second === undefined) {
      switch (first) {
        case "lab":
          return { page: "lab", ...parseLab(search) };
        case "new":
          return { page: "new", analysis: text("analysis"), ...parseRequest(search) };
        case "circuit-test":
          return { page: "circuit-test", ...parseRequest(search) };
        case "runs":
          return {
            page: "runs",
            model: text("model"),
            task: text("task"),
            analysis: text("analysis"),
            status: text("status"),
          };
        case "compare":
          return { page: "compare", ...parseCompare(search) };
        case "circuits":
          return { page: "circuits", model: text("model"), circuits: parseCircuits(search) };
        case "tasks":
          return { page: "tasks" };
        case "models":
          return { page: "models" };
        case "validation":
          return { page: "validation" };
        case "sign-in":
          return { page: "sign-in", next: localPath(search.get("next")) };
      }
    } else {
      switch (first) {
        case "runs":
          return { page: "run", id: second, view: parseView(search) };
        case "s":
          return { page: "shared", token: second, view: search.size > 0 ? parseView(search) : null };
        case "tasks":
          return {
            page: "task",
            name: second,
            model: text("model"),
            split: oneOf(["train", "test"], search.get("split"), "train"),
          };
        case "models":
          return { page: "model", name: second };
      }
    }
  }
  return { page: "not-found", path };
}

/** Only a path on this site may follow a sign-in, never another address. */
function localPath(next: string | null): string {
  return next !== null && /^\/(?![/\\])/.test(next) ? next : "/";
}

function withSearch(path: string, parameters: Record<string, string | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) search.set(name, value);
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

const part = encodeURIComponent;

/** The address of a place; `parsePlace` reads it back. */
export function formatPlace(place: Place): string {
  switch (place.page) {
    case "atlas":
      return withSearch("/", { model: place.model, task: place.task, ...viewParameters(place.view) });
    case "lab":
      return withSearch("/lab", labParameters(place));
    case "run":
      return withSearch(`/runs/${part(place.id)}`, viewParameters(place.view));
    case "shared":
      return formatShared(place.token, place.view);
    case "new":
      return withSearch("/new", { analysis: place.analysis, ...formatRequest(place) });
    case "circuit-test":
      return withSearch("/circuit-test", formatRequest(place));
    case "runs":
      return withSearch("/runs", {
        model: place.model,
        task: place.task,
        analysis: place.analysis,
        status: place.status,
      });
    case "compare":
      // Ids are letters and digits: the commas between them need no escape.
      return withSearch("/compare", compareParameters(place)).replaceAll("%2C", ",");
    case "circuits":
      return withSearch("/circuits", { model: place.model, ...circuitsParameters(place.circuits) });
    case "tasks":
      return "/tasks";
    case "validation":
      return "/validation";
    case "task":
      return withSearch(`/tasks/${part(place.name)}`, {
        model: place.model,
        split: place.split === "train" ? null : place.split,
      });
    case "models":
      return "/models";
    case "model":
      return `/models/${part(place.name)}`;
    case "sign-in":
      return withSearch("/sign-in", { next: place.next === "/" ? null : place.next });
    case "not-found":
      return place.path;
  }
}

// A share opened bare shows the view it keeps; once the reader moves, the address holds theirs,
// and "mode" is written even where it is the default, so that the two can be told apart.
function formatShared(token: string, view: View | null): string {
  const path = `/s/${part(token)}`;
  return view === null ? path : withSearch(path, { mode: view.mode, ...viewParameters(view) });
}
