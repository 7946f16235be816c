// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { answering } from "../testing/network";
import { inAddress, openPage } from "../testing/page";
import { analysis, model, run } from "../testing/samples";

// An analysis that builds on a run of another one; its schema says of which, and whether the task must be the same.
const builds = (same_task: boolean) =>
  analysis("builds", {
    needs_task: true,
    references: { base: "run" },
    params_schema: {
      properties: {
        base: {
          title: "Base run",
          anyOf: [{ type: "string" }, { type: "null" }],
          default: null,
          analysis: "first",
          same_task,
          needed: true,
        },
      },
    },
  });
const task = (name: string) => ({ name, title: name });

async function pickOther(same_task: boolean) {
  const network = answering({
    "GET /api/v1/analyses": [builds(same_task), analysis("first"), analysis("base")],
    "GET /api/v1/models": [model()],
    "GET /api/v1/tasks": [task("plural"), task("past")],
    "GET /api/v1/runs": {
      runs: [run({ id: "here", task: "plural" }), run({ id: "there", task: "past" })],
      total: 2,
    },
    "POST /api/v1/runs/estimate": {
      run_id: "x",
      existing: null,
      seconds: 1,
      peak_bytes: 1,
      basis: "",
      queue: null,
      refused: null,
    },
  });
  openPage("/new?analysis=builds&model=tiny&task=plural");
  const picker = await screen.findByRole<HTMLSelectElement>("combobox", { name: /Base run/ });
  await waitFor(() => expect(picker.value).toBe("here"));
  fireEvent.change(picker, { target: { value: "there" } });
  await waitFor(() => expect(picker.value).toBe("there"));
  return network;
}

it("offers finished runs of the analysis that the schema names, and moves to the task of the one picked", async () => {
  const network = await pickOther(true);
  expect(network.asked("GET /api/v1/runs")[0]?.query.get("analysis")).toBe("first");
  await waitFor(() => expect(inAddress("task")).toBe("past"));
});

it("stays on its task where the run may be on another one", async () => {
  await pickOther(false);
  expect(inAddress("task")).toBe("plural");
});
