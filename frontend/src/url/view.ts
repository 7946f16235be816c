// What the address bar holds. Everything that decides what a page shows is here and nowhere else:
// reload, the back button and a pasted link give the same view.

export const MODES = ["every", "always", "any"] as const;
export type Mode = (typeof MODES)[number];

export const SCORES = ["facilitation", "interference", "irrelevance"] as const;
export type Score = (typeof SCORES)[number];

export interface Head {
  layer: number;
  head: number;
}

/** How a run is looked at. The defaults are left out of the address. */
export interface View {
  mode: Mode;
  /** A head has a role where its score is at least this; above 0 and up to 1, two decimals. */
  threshold: number;
  head: Head | null;
  /** The selected head's passport is open. */
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

export type Place =
  | { page: "atlas"; model: string | null; task: string | null; view: View }
  | { page: "run"; id: string; view: View }
  | { page: "shared"; token: string; view: View | null }
  | { page: "new"; model: string | null; task: string | null; preset: string | null }
  | { page: "runs"; model: string | null; task: string | null; status: string | null }
  | { page: "tasks" }
  | { page: "task"; name: string; model: string | null; split: "train" | "test" }
  | { page: "models" }
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

/** "17.4" is layer 17, head 4; anything else is no head. */
export function parseHead(text: string | null): Head | null {
  const match = /^(\d{1,4})\.(\d{1,4})$/.exec(text ?? "");
  return match ? { layer: Number(match[1]), head: Number(match[2]) } : null;
}

export function headName({ layer, head }: Head): string {
  return `${layer}.${head}`;
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
        case "new":
          return { page: "new", model: text("model"), task: text("task"), preset: text("preset") };
        case "runs":
          return { page: "runs", model: text("model"), task: text("task"), status: text("status") };
        case "tasks":
          return { page: "tasks" };
        case "models":
          return { page: "models" };
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
    case "run":
      return withSearch(`/runs/${part(place.id)}`, viewParameters(place.view));
    case "shared":
      return formatShared(place.token, place.view);
    case "new":
      return withSearch("/new", { model: place.model, task: place.task, preset: place.preset });
    case "runs":
      return withSearch("/runs", { model: place.model, task: place.task, status: place.status });
    case "tasks":
      return "/tasks";
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
