// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { Queries } from "../api/query";
import { Plot } from "./Plot";

// The library's own request is played: lost the first time, there the second.
const drawn = vi.fn(async (target: HTMLElement) => {
  target.textContent = "the picture";
  return Object.assign(target, { on: () => {}, removeAllListeners: () => {} });
});
const lost = () => {
  throw new TypeError("Failed to fetch dynamically imported module");
};
const there = () => ({ default: { react: drawn, purge: () => {} } });

afterEach(() => {
  cleanup();
  vi.doUnmock("plotly.js-cartesian-dist-min");
});

it("says that the library didn't come, and draws once a retry brings it", async () => {
  vi.doMock("plotly.js-cartesian-dist-min", lost);
  render(<Plot figure={{ data: [], layout: {} }} />, { wrapper: Queries });
  await screen.findByText("The library that draws pictures couldn't be loaded.");
  vi.doMock("plotly.js-cartesian-dist-min", there);
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  await screen.findByText("the picture");
  await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
});
