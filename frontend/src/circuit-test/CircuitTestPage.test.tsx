// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { type Asked, answering, problem } from "../testing/network";
import { button, here, inAddress, openPage, textOf } from "../testing/page";
import { analysis, model, run } from "../testing/samples";

const HEADS = "POST /api/v1/models/headscope-2l/heads";
const text = (title: string, format?: string) => ({
  title,
  anyOf: [{ type: "string", ...(format ? { format } : {}) }, { type: "null" }],
  default: null,
});
const TEST = analysis("circuit-test", {
  title: "Test a circuit",
  needs_task: true,
  presets: { quick: {} },
  references: { gating: "run" },
  params_schema: {
    properties: {
      heads: text("Heads of the circuit", "heads"),
      gating: { ...text("Causal head gating run"), kind: "run", analysis: "chg", same_task: true },
    },
  },
});
const CHG = analysis("chg", { title: "Causal head gating" });
const EARLIER = run({
  id: "old",
  analysis: "circuit-test",
  headline_values: [
    { name: "heads", label: "Heads", value: 2, unit: "count" },
    { name: "of_heads", label: "Heads", value: 16, unit: "count" },
    { name: "tests", label: "Tests", value: 5, unit: "count" },
    { name: "tests_shown", label: "Shown", value: 3, unit: "count" },
    { name: "tests_refuted", label: "Refuted", value: 1, unit: "count" },
  ],
});

function play() {
  return answering({
    "GET /api/v1/analyses": [TEST, CHG],
    "GET /api/v1/models": [model({ name: "headscope-2l" })],
    "GET /api/v1/tasks": [{ name: "induction", title: "Induction" }],
    "GET /api/v1/runs": ({ query }: Asked) =>
      query.get("analysis") === "circuit-test" ? { runs: [EARLIER], total: 1 } : { runs: [], total: 0 },
    "POST /api/v1/runs/estimate": problem(422, { code: "c", detail: "No estimate here." }),
    [HEADS]: ({ body }: Asked) =>
      String(body.text).includes("1-5")
        ? problem(422, { code: "bad-head", detail: '"1-5" is no head.', remedy: "Write heads as 0.3." })()
        : {
            heads: [
              [0, 3],
              [1, 5],
            ],
            text: "0.3, 1.5",
            of_heads: 16,
          },
  });
}

const list = () => screen.findByLabelText<HTMLTextAreaElement>("Heads of the circuit");

it("reads a list as it is pasted, names what is no head, and says how many there are", async () => {
  play();
  openPage("/circuit-test");
  fireEvent.change(await list(), { target: { value: "0.3, 1-5" } });
  expect(await screen.findByText('"1-5" is no head. Write heads as 0.3.')).toBeTruthy();
  fireEvent.change(await list(), { target: { value: "L1H5\nL0H3" } });
  expect(await screen.findByText("2 heads of 16: 0.3, 1.5")).toBeTruthy();
});

it("opens a list from a file", async () => {
  play();
  openPage("/circuit-test");
  await list();
  const file = new File(["layer,head\n0,3\n1,5\n"], "heads.csv", { type: "text/csv" });
  file.text = async () => "layer,head\n0,3\n1,5\n";
  fireEvent.change(screen.getByLabelText("Heads of the circuit, from a file"), { target: { files: [file] } });
  await waitFor(async () => expect((await list()).value).toBe("layer,head\n0,3\n1,5\n"));
});

it("starts the test of the heads that its address names", async () => {
  const network = play();
  network.answer({
    "POST /api/v1/runs": run({ id: "new", analysis: "circuit-test" }),
    "GET /api/v1/runs/*": run({}),
  });
  openPage("/circuit-test?model=headscope-2l&task=induction&param.heads=0.3%2C+1.5");
  expect((await list()).value).toBe("0.3, 1.5");
  await waitFor(() => expect(button("Start").disabled).toBe(false));
  fireEvent.submit(screen.getByRole("form", { name: "Test a circuit" }));
  await waitFor(() => expect(network.asked("POST /api/v1/runs")).toHaveLength(1));
  expect(network.asked("POST /api/v1/runs")[0]?.body).toMatchObject({
    analysis: "circuit-test",
    task: "induction",
    params: { heads: "0.3, 1.5" },
  });
});

it("stays on its page when the model or the task is chosen, and lists earlier tests", async () => {
  play();
  openPage("/circuit-test?task=induction");
  const earlier = within(await screen.findByRole("region", { name: "Earlier tests" }));
  expect(textOf(earlier.getByRole("listitem"))).toContain("3 of 5 tests show it, 1 refute it");
  fireEvent.change(await screen.findByLabelText("Task"), { target: { value: "induction" } });
  expect(here()).toMatch(/^\/circuit-test\?/);
  expect(inAddress("model")).toBe("headscope-2l");
});
