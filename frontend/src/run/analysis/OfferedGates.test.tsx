// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { answering, problem } from "../../testing/network";
import { findButton, here, renderPart } from "../../testing/page";
import { analysis, kept, run } from "../../testing/samples";
import { OfferedGates } from "./OfferedGates";

const preset = (name: string, title: string) => ({
  name,
  title,
  reading: `${title}, pushed open.`,
  gates: kept().gates,
  open: 7,
});
const pushed = run({ id: "r9", analysis: "some" });
const offers = { "GET /api/v1/analyses": [analysis("some", { offers_gates: true })] };

it("takes the chosen one of the gates that a run offers to the mixing board", async () => {
  const network = answering({
    ...offers,
    "GET /api/v1/runs/r9/gates": [preset("named", "a without b"), preset("exchanged", "b without a")],
    "POST /api/v1/gates/of-run/r9": kept({ id: "77" }),
  });
  renderPart(<OfferedGates run={pushed} />);
  const choice = await screen.findByRole("combobox", { name: "Which gates" });
  fireEvent.change(choice, { target: { value: "exchanged" } });
  expect(screen.getByText(/^b without a, pushed open\. They are saved/)).toBeTruthy();
  fireEvent.click(await findButton("Open on the mixing board"));
  await waitFor(() => expect(here()).toContain("/lab?model=tiny&gates=77"));
  expect(network.asked("POST /api/v1/gates/of-run/r9")[0]?.query.get("preset")).toBe("exchanged");
});

it("is no choice where there is one", async () => {
  answering({ ...offers, "GET /api/v1/runs/r9/gates": [preset("sufficient", "Sufficient heads")] });
  renderPart(<OfferedGates run={pushed} />);
  await screen.findByText("Sufficient heads as gates");
  expect(screen.queryByRole("combobox")).toBeNull();
});

it.each([
  ["an analysis that offers none", { "GET /api/v1/analyses": [analysis("some")] }, 0],
  [
    "a run that found none",
    { ...offers, "GET /api/v1/runs/r9/gates": problem(409, { code: "no-gates" }) },
    1,
  ],
])("says nothing of %s", async (_, routes, asked) => {
  const network = answering(routes);
  const { container } = renderPart(<OfferedGates run={pushed} />);
  await waitFor(() => expect(network.asked("GET /api/v1/analyses")).toHaveLength(1));
  await waitFor(() => expect(network.asked("GET /api/v1/runs/r9/gates")).toHaveLength(asked));
  expect(container.textContent).toBe("");
});
