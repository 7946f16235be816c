import { expect, it } from "vitest";
import type { Table } from "../../api/types";
import { strongest } from "./StrongestPrompts";

it("reads a head's strongest prompts, and none where there are fewer", () => {
  const names = ["layer", "head", "mean", "top1", "top1_value", "top2", "top2_value", "top3", "top3_value"];
  const table = {
    columns: names.map((name) => ({ name, title: name, unit: "" })),
    rows: [
      [0, 0, 0.1, 7, 0.5, 3, 0.4, 1, 0.2],
      [0, 1, 0.1, 2, 0.9, null, null, null, null],
    ],
  } as unknown as Table;
  expect(strongest(table, { layer: 0, head: 0 }).map(({ prompt }) => prompt)).toEqual([7, 3, 1]);
  expect(strongest(table, { layer: 0, head: 1 })).toEqual([{ prompt: 2, value: 0.9 }]);
  expect(strongest(table, { layer: 1, head: 0 })).toEqual([]);
});
