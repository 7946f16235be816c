// The rooms of `src/` and what each may import: a page's folder stands on the shared ones, never the other way round.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";

/** Shared rooms; each imports from those before it only. */
const SHARED = ["format", "url", "form", "api", "tokens", "parts", "plot", "results"];

/** A page's folder each. `styles` are the theme and the base, imported by `main.tsx` alone. */
const FEATURES = [
  "atlas",
  "run",
  "lab",
  "circuits",
  "circuit-test",
  "compare",
  "new-run",
  "tasks",
  "models",
  "shares",
  "sign-in",
  "validation",
];

/** The browser, the network and what a server says, for tests alone; it may import everything that they test. */
const TESTING = "testing";

/** What one feature shows of another: the atlas opens a run, a share opens what was shared. */
const DOORS = new Set([
  "atlas -> run/RunBody",
  "circuit-test -> new-run/NewRunForm",
  "shares -> run/RunBody",
  "shares -> lab/SharedLabPage",
  "shares -> compare/SharedComparison",
]);

const SRC = import.meta.dirname;

function roomOf(path: string): string {
  return path.includes("/") ? (path.split("/")[0] ?? "") : "";
}

/** What a source imports by a relative path, static or dynamic: paths from `src/` without extension. */
function importsOf(path: string, source: string): string[] {
  const found = source.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"(\.[^"]+)"/g);
  return [...found].map(([, to]) => relative(SRC, resolve(SRC, dirname(path), to ?? "")));
}

/** Why an import isn't allowed; null where it is. */
function fault(path: string, imported: string): string | null {
  const [from, to] = [roomOf(path), roomOf(imported)];
  if (from === to || from === TESTING) return null;
  if (to === TESTING) return /\.test\.tsx?$/.test(path) ? null : `${path} imports ${imported}`;
  if (from === "") return null;
  const [above, below] = [SHARED.indexOf(from), SHARED.indexOf(to)];
  const allowed = above < 0 ? below >= 0 || DOORS.has(`${from} -> ${imported}`) : below >= 0 && below < above;
  return allowed ? null : `${path} imports ${imported}`;
}

const all = readdirSync(SRC, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
const files = all.filter((path) => /\.tsx?$/.test(path) && path !== "rooms.test.ts");

const imports = files.flatMap((path) =>
  importsOf(path, readFileSync(join(SRC, path), "utf8")).map((imported): [string, string] => [
    path,
    imported,
  ]),
);

it("every folder is a shared room or a feature", () => {
  const rooms = new Set(files.map(roomOf));
  rooms.delete("");
  expect([...rooms].sort()).toEqual([...SHARED, ...FEATURES, TESTING].sort());
});

it("features import shared rooms, shared rooms those below them", () => {
  expect(imports.flatMap(([path, imported]) => fault(path, imported) ?? [])).toEqual([]);
});

it("every door between features is used", () => {
  const used = new Set(imports.map(([path, imported]) => `${roomOf(path)} -> ${imported}`));
  expect([...DOORS].filter((door) => !used.has(door))).toEqual([]);
});

it("every stylesheet is loaded: a shared room's in its order by styles/index.css, a feature's by the feature", () => {
  const index = readFileSync(join(SRC, "styles/index.css"), "utf8");
  const ordered = [...index.matchAll(/@import "([^"]+)"/g)].map(([, path]) => join("styles", path ?? ""));
  const loaded = [...ordered, ...imports.map(([, imported]) => imported)];
  const sheets = all.filter((path) => path.endsWith(".css"));
  expect(sheets.filter((path) => !loaded.includes(path))).toEqual([]);
  expect(ordered.filter((path) => FEATURES.includes(roomOf(path)))).toEqual([]);
});

it.each([
  ["plot/Picture.tsx", 'import { RunBody } from "../run/RunBody";'],
  ["parts/Menu.tsx", 'import { Plot } from "../plot/Plot";'],
  ["tasks/TaskPage.tsx", 'import { Maps } from "../atlas/Maps";'],
  ["run/gating/GridCard.tsx", 'const Lab = lazy(() => import("../../lab/LabPage"));'],
  ["atlas/AtlasPage.tsx", 'import "../styles/base.css";'],
  ["App.tsx", 'import { openPage } from "./testing/page";'],
])("%s must not say %s", (path, source) => {
  expect(importsOf(path, source).map((imported) => fault(path, imported))).not.toContain(null);
});
