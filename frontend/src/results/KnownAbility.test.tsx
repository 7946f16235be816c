// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { answering } from "../testing/network";
import { findButton, renderPart, textOf } from "../testing/page";
import { run } from "../testing/samples";
import { KnownAbility } from "./KnownAbility";

const open = (runs: unknown[]) => {
  const network = answering({
    "GET /api/v1/runs": { runs, total: runs.length },
    "POST /api/v1/runs": run({ id: "begun" }),
  });
  renderPart(<KnownAbility model="tiny" task="past" />);
  return network;
};

describe("a model's ability", () => {
  it("is told from the newest finished run", async () => {
    const headline = { accuracy: 0.91, chance: 0.02, auto_shots: 5, verdict: "can do it" };
    const network = open([run({ id: "known", analysis: "ability", headline })]);
    const said = textOf(await screen.findByLabelText("Ability"));
    expect(said).toMatch(/^The model can do it: with 5 in-context examples it answers 91\.0.% right/);
    expect(said).toContain("shots=auto takes 5");
    expect(network.asked("GET /api/v1/runs")[0]?.query.get("analysis")).toBe("ability");
    expect(screen.getByRole("link").getAttribute("href")).toBe("/runs/known");
  });

  it("is measured at a button where nobody knows it", async () => {
    const network = open([]);
    fireEvent.click(await findButton("Measure it"));
    await waitFor(() =>
      expect(network.asked("POST /api/v1/runs")[0]?.body).toMatchObject({
        analysis: "ability",
        model: "tiny",
        task: "past",
      }),
    );
  });

  it("is waited for where it is being measured", async () => {
    open([run({ id: "begun", analysis: "ability", headline: null })]);
    expect(textOf(await screen.findByLabelText("Ability"))).toContain("is being measured");
  });
});
