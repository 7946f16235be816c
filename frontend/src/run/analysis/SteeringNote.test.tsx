// @vitest-environment jsdom
import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { answering } from "../../testing/network";
import { renderPart, textOf } from "../../testing/page";
import { run } from "../../testing/samples";
import { SteeringNote } from "./SteeringNote";

const built = (name: string) => {
  const headline = { [`always_${name}`]: 0.1 };
  const network = answering({ "GET /api/v1/runs/map": run({ id: "map", headline }) });
  renderPart(<SteeringNote run={run({ analysis: "agreement", params: { gating: "map" } })} />);
  return network;
};

it("says that a run is built on a steering map", async () => {
  built("lifts_open");
  expect(textOf(await screen.findByRole("note"))).toContain("is a steering map");
});

it("says nothing of one that is built on roles", async () => {
  const network = built("needed");
  await waitFor(() => expect(network.asked("GET /api/v1/runs/map")).toHaveLength(1));
  expect(screen.queryByRole("note")).toBeNull();
});
