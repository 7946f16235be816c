import { expect, test } from "vitest";
import type { Figure } from "../../api/types";
import { scaled } from "./AnalysisBody";

const figure = {
  data: [],
  layout: { xaxis: { range: [0, 100], title: { text: "heads" } } },
} as unknown as Figure;

test("an axis that starts at 0 goes on a logarithmic scale from below 1 to where it ended", () => {
  expect(scaled(figure, "linear")).toBe(figure);
  const { xaxis } = scaled(figure, "log").layout as {
    xaxis: { type: string; range: number[]; title: object };
  };
  expect(xaxis.type).toBe("log");
  expect(xaxis.range[0]).toBeLessThan(0);
  expect(xaxis.range[1]).toBe(2);
  expect(xaxis.title).toEqual({ text: "heads" });
});
