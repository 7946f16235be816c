// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Figure, RoleReplication, Run } from "../../api/types";
import { summarise } from "../../plot/roles";
import { textOf } from "../../testing/page";
import { startedLike } from "../../testing/starting";
import { HeadVerdicts, Replicates } from "./Replicates";

const run = {
  id: "old",
  analysis: "chg",
  model: "small",
  task: "induction",
  preset: "quick",
  params: { seeds: 2, steps: 32, adds_to: null },
  seeds: [0, 1],
} as unknown as Run;

const by = (change: Partial<RoleReplication> = {}): RoleReplication => ({
  prior: [0.5, 0.5],
  rate: [0.17, 0.5, 0.83],
  low: [0, 0.1, 0.45],
  high: [0.6, 0.9, 1],
  verdict: ["undecided", "undecided", "leans"],
  more: [null, null, 4],
  replicating: 0,
  split_half: null,
  ...change,
});

const figure = (more: number | null, needed: Partial<RoleReplication> = {}): Figure => ({
  data: [],
  layout: {
    meta: {
      threshold: 0.5,
      fits: 2,
      more_seeds: more,
      advice: "Two fits can’t give “replicates”: 4 more would, if they agree.",
      replication: { needed: by(needed), harmful: by(), irrelevant: by() },
    },
  },
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("whether roles replicate", () => {
  it("says how many fits would tell, and one button makes them and keeps the old seeds", async () => {
    const sent = startedLike(run);
    render(<Replicates run={run} figure={figure(4, { replicating: 0.125 })} canAdd />);
    const said = textOf(screen.getByLabelText("Would a new fit say the same?"));
    expect(said).toMatch(/^12\.5.% of heads are needed in a way that replicates, 0.% harmful\./);
    expect(said).toContain("4 more would, if they agree.");
    fireEvent.click(screen.getByText("Add 4 fits"));
    await waitFor(() => expect(location.pathname).toBe("/runs/new"));
    expect(sent).toEqual([
      expect.objectContaining({ params: { seeds: 6, steps: 32, adds_to: "old" }, preset: "quick" }),
    ]);
  });

  it("suggests what the shares would need where no number of fits would tell, else two", () => {
    const shares: Figure = {
      data: [],
      layout: { meta: { more_seeds: 7, advice: "Seven would steady it." } },
    };
    const { rerender } = render(<Replicates run={run} figure={figure(null)} seeds={shares} canAdd />);
    expect(screen.getByText("Seven would steady it.")).toBeTruthy();
    expect(screen.getByText("Add 7 fits")).toBeTruthy();
    rerender(<Replicates run={run} figure={figure(null)} canAdd />);
    expect(screen.getByText("Add 2 fits")).toBeTruthy();
  });

  it("offers fits on permuted targets beside these, once", async () => {
    const sent = startedLike(run);
    const { rerender } = render(<Replicates run={run} figure={figure(4)} canAdd />);
    fireEvent.click(screen.getByText("Hold against permuted targets"));
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(sent).toEqual([
      expect.objectContaining({ params: { seeds: 2, steps: 32, adds_to: "old", null_fits: 5 } }),
    ]);
    const held = { ...run, params: { ...run.params, null_fits: 2 } } as unknown as Run;
    rerender(<Replicates run={held} figure={figure(4)} canAdd />);
    expect(screen.queryByText("Hold against permuted targets")).toBeNull();
  });

  it("offers nothing to guests", () => {
    render(<Replicates run={run} figure={figure(4)} canAdd={false} />);
    expect(screen.queryByRole("button")).toBeNull();
  });
});

describe("a head's verdicts", () => {
  // Needed in both seeds, and harmful too in the second.
  const gates = {
    seeds: 2,
    layers: 1,
    heads: 1,
    plus: Float32Array.from([1, 0.2]),
    minus: Float32Array.from([0.9, 0.8]),
  };
  const summary = summarise(gates, { layer: 0, head: 0 }, 0.5);

  it("are said in words, each with its share and interval", () => {
    render(<HeadVerdicts summary={summary} figure={figure(4)} />);
    const said = textOf(screen.getByLabelText("Would a new fit say the same?"));
    expect(said).toMatch(
      /Needed in 2 of 2.*leans: more often than not.*83.0.% in a new fit, 90.%: 45.0.%–100.%/,
    );
    expect(said).toMatch(/Harmful in 1 of 2.*undecided: that is not known yet.*50.0.% in/);
    expect(said).not.toContain("matter");
  });

  it("wait for the figure of the same fits", () => {
    const other = figure(4);
    Object.assign(other.layout.meta ?? {}, { fits: 3 });
    render(<HeadVerdicts summary={summary} figure={other} />);
    expect(screen.queryByLabelText("Would a new fit say the same?")).toBeNull();
  });
});
