// @vitest-environment jsdom
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { answering } from "../testing/network";
import { renderPart } from "../testing/page";
import { analysis, run } from "../testing/samples";
import { NextSteps } from "./NextSteps";

it("leads from a run of gating to the test of its heads, with the run filled in", async () => {
  const gating = { kind: "run", analysis: "chg", anyOf: [{ type: "string" }, { type: "null" }] };
  const test = analysis("circuit-test", {
    title: "Test a circuit",
    needs_task: true,
    references: { gating: "run" },
    params_schema: { properties: { gating } },
  });
  answering({ "GET /api/v1/analyses": [test] });
  renderPart(<NextSteps run={run({ id: "g1", analysis: "chg", task: "induction", has_roles: true })} />);
  const link = await screen.findByRole("link", { name: "Test these heads as a circuit" });
  expect(link.getAttribute("href")).toMatch(/^\/circuit-test\?.*task=induction.*param\.gating=g1/);
});
