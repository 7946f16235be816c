// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Analysis, Run } from "../../api/types";
import { newRunLike } from "../../results/analyses";
import { startedLike } from "../../testing/starting";
import { stepsFrom } from "../NextSteps";
import { AddFits } from "./AddFits";

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

describe("adding fits", () => {
  it("offers as many as are suggested, and asks for that many in all", async () => {
    const sent = startedLike(run);
    render(<AddFits run={run} suggested={6} />);
    fireEvent.click(screen.getByText("Add 6 fits"));
    await waitFor(() => expect(location.pathname).toBe("/runs/new"));
    expect(sent).toEqual([
      expect.objectContaining({ params: { seeds: 10, steps: 32, adds_to: "old" }, preset: "quick" }),
    ]);
  });

  it("takes the reader's own number within what a run may hold", () => {
    render(<AddFits run={run} suggested={1} />);
    const input = screen.getByLabelText("How many fits to add");
    expect(screen.getByText("Add 1 fit")).toBeTruthy();
    fireEvent.change(input, { target: { value: "61" } });
    expect(screen.getByText<HTMLButtonElement>("1 to 60 fits").disabled).toBe(true);
    fireEvent.change(input, { target: { value: "60" } });
    expect(screen.getByText<HTMLButtonElement>("Add 60 fits").disabled).toBe(false);
  });

  it("says that a run which is full has no room", () => {
    render(<AddFits run={{ ...run, seeds: Array.from({ length: 64 }, (_, at) => at) }} suggested={2} />);
    expect(screen.getByText(/at most 64 fits/)).toBeTruthy();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("is no form of its own elsewhere, and other settings start from nothing", () => {
    expect(stepsFrom(run, [chg])).toEqual([]);
    expect(newRunLike(run, chg)).toMatchObject({ params: { seeds: "4" } });
    expect(newRunLike(run, chg)).not.toHaveProperty("params.adds_to");
  });
});
