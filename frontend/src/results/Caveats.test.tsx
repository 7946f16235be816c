// @vitest-environment jsdom
import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Run } from "../api/types";
import { answering } from "../testing/network";
import { renderPart } from "../testing/page";
import { Caveats } from "./Caveats";

const run = { id: "one", result: "r1" } as unknown as Run;
const CAUTION = "These gates aren’t a circuit: accuracy goes from 74 % to 16 %.";

async function said(notes: string[], caution?: string) {
  answering({ "GET /api/v1/runs/one/result": { values: { notes } } });
  renderPart(<Caveats runs={[run]} caution={caution} />);
  return (await screen.findAllByRole("listitem")).map((item) => item.textContent);
}

describe("caveats", () => {
  it("begin with what a figure found, for runs whose notes are older", async () => {
    expect(await said([], CAUTION)).toEqual([CAUTION]);
  });

  it("say it once where the notes have it", async () => {
    const items = await said(["Few seeds.", CAUTION], CAUTION);
    await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(2));
    expect(items.filter((item) => item === CAUTION)).toHaveLength(1);
  });
});
