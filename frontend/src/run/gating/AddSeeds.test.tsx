// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Analysis, Figure, Run } from "../../api/types";
import { newRunLike } from "../../results/analyses";
import { stepsFrom } from "../NextSteps";
import { AddSeeds } from "./AddSeeds";

// The network is played: it keeps what it was sent and answers with the new run.
const run = {
  id: "old",
  analysis: "chg",
  model: "small",
  task: "induction",
  preset: "quick",
  params: { seeds: 4, steps: 32, adds_to: "older" },
  seeds: [0, 1, 2, 3],
} as unknown as Run;
const figure = (more: number | null): Figure => ({
  data: [],
  layout: { meta: { more_seeds: more, advice: "One seed more moves it." } },
});
const chg = {
  name: "chg",
  references: { adds_to: "run" },
  presets: { quick: {} },
  params_schema: {
    properties: {
      seeds: { type: "integer", default: 3 },
      steps: { type: "integer", default: 32 },
      adds_to: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
    },
  },
} as unknown as Analysis;

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("adding seeds", () => {
  it("offers as many as are suggested, and asks for that many in all", async () => {
    const sent: unknown[] = [];
    vi.stubGlobal("scrollTo", () => {});
    vi.stubGlobal("fetch", async (request: Request) => {
      sent.push(await request.json());
      return new Response(JSON.stringify({ ...run, id: "new" }), { status: 202 });
    });
    render(<AddSeeds run={run} figure={figure(6)} />);
    expect(screen.getByText("One seed more moves it.")).toBeTruthy();
    fireEvent.click(screen.getByText("Add 6 seeds"));
    await waitFor(() => expect(location.pathname).toBe("/runs/new"));
    expect(sent).toEqual([
      expect.objectContaining({ params: { seeds: 10, steps: 32, adds_to: "old" }, preset: "quick" }),
    ]);
  });

  it("takes the reader's own number within what a run may hold", () => {
    render(<AddSeeds run={run} figure={figure(0)} />);
    const input = screen.getByLabelText("How many seeds to add");
    expect(screen.getByText("Add 1 seed")).toBeTruthy();
    fireEvent.change(input, { target: { value: "61" } });
    expect(screen.getByText<HTMLButtonElement>("1 to 60 seeds").disabled).toBe(true);
    fireEvent.change(input, { target: { value: "60" } });
    expect(screen.getByText<HTMLButtonElement>("Add 60 seeds").disabled).toBe(false);
  });

  it("offers two from a single seed, which says nothing of others", () => {
    render(<AddSeeds run={{ ...run, seeds: [0] }} figure={figure(null)} />);
    expect(screen.getByText("Add 2 seeds")).toBeTruthy();
  });

  it("is no form of its own elsewhere, and other settings start from nothing", () => {
    expect(stepsFrom(run, [chg])).toEqual([]);
    expect(newRunLike(run, chg)).toMatchObject({ params: { seeds: "4" } });
    expect(newRunLike(run, chg)).not.toHaveProperty("params.adds_to");
  });
});
