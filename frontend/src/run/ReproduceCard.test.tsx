// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Queries } from "../api/query";
import type { Run } from "../api/types";
import { ReproduceCard } from "./ReproduceCard";

const run = {
  id: "abc",
  analysis: "chg",
  params: { seeds: 2 },
  attempts: [],
  result: "r1",
  partial: false,
  reproduce: "headscope run chg --model small --task induction",
} as unknown as Run;

beforeEach(() => {
  vi.stubGlobal("fetch", async () => new Response("[]", { status: 200 }));
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("reproducing a run", () => {
  it("writes it as a notebook beside", () => {
    render(<ReproduceCard run={run} share={null} onRun={() => {}} />, { wrapper: Queries });
    expect(screen.getByRole("button", { name: "Reproduce" })).toBeTruthy();
    const link = screen.getByRole("link", { name: "Open in notebook" });
    expect(link.getAttribute("href")).toBe("/api/v1/runs/abc/export?format=ipynb");
  });

  it("gives a guest the notebook by the share, and nothing that computes", () => {
    render(<ReproduceCard run={run} share="token" onRun={() => {}} />, { wrapper: Queries });
    expect(screen.queryByRole("button", { name: "Reproduce" })).toBeNull();
    const link = screen.getByRole("link", { name: "Open in notebook" });
    expect(link.getAttribute("href")).toBe("/api/v1/runs/abc/export?format=ipynb&share=token");
  });

  it("has no notebook of a run without a result", () => {
    render(<ReproduceCard run={{ ...run, result: null }} share={null} onRun={() => {}} />, {
      wrapper: Queries,
    });
    expect(screen.queryByText("Open in notebook")).toBeNull();
  });
});
