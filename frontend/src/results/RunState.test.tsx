// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Queries } from "../api/query";
import type { Run } from "../api/types";
import { RunState } from "./RunState";

const failed = (status: number, code = "task-too-hard") =>
  ({
    id: "r",
    analysis: "cchg",
    model: "small",
    task: null,
    preset: null,
    params: {},
    seeds: [0],
    status: "failed",
    error: { status, code, title: "t", detail: "What happened.", remedy: "What to do." },
  }) as unknown as Run;

beforeEach(() => vi.stubGlobal("fetch", async () => new Response("[]")));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("a failed run", () => {
  it("offers another try, unless its own settings are at fault", () => {
    for (const passing of [failed(503), failed(500), failed(409, "out-of-memory")]) {
      render(<RunState run={passing} onRun={() => {}} readOnly={false} />, { wrapper: Queries });
      expect(screen.getByText("Try again")).toBeTruthy();
      cleanup();
    }
    for (const refused of [failed(422), failed(409)]) {
      render(<RunState run={refused} onRun={() => {}} readOnly={false} />, { wrapper: Queries });
      expect(screen.queryByText("Try again")).toBeNull();
      expect(screen.getByText("Change the settings").className).toContain("primary");
      cleanup();
    }
  });
});
