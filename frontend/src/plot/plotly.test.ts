// A megabyte of drawing library comes with the pages that draw, and with no other.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";

const SRC = resolve(import.meta.dirname, "..");

function fileOf(path: string): string | undefined {
  return [".ts", ".tsx"].map((end) => path + end).find((file) => existsSync(join(SRC, file)));
}

/** What comes with a module: all that it imports, types and later imports left out. */
function closure(path: string, seen = new Set<string>()): Set<string> {
  const file = fileOf(path);
  if (!file || seen.has(path)) return seen;
  seen.add(path);
  const source = readFileSync(join(SRC, file), "utf8");
  for (const [, kind, to] of source.matchAll(/^import (type )?[^"]*"(\.[^"]+)";$/gm))
    if (!kind) closure(relative(SRC, resolve(SRC, dirname(file), to ?? "")), seen);
  return seen;
}

const app = readFileSync(join(SRC, "App.tsx"), "utf8");
const pages = [...app.matchAll(/import\("\.\/([^"]+)"\)/g)].map(([, path]) => path ?? "");

it("is reached by the pages that draw", () => {
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.filter((page) => closure(page).has("plot/plotly"))).toEqual([
    "atlas/AtlasPage",
    "circuits/CircuitsPage",
    "compare/ComparePage",
    "run/RunPage",
    "shares/SharedPage",
    "validation/ValidationPage",
  ]);
});

it("isn't part of what every page loads", () => {
  expect(closure("main").has("App")).toBe(true);
  expect(closure("main").has("plot/plotly")).toBe(false);
});
