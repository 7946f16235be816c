import { describe, expect, it } from "vitest";
import type { Table } from "../api/types";
import { namedIn } from "./HeadNames";

const table: Table = {
  columns: ["layer", "head", "kv_group", "names", "evidence", "conflicts"].map((name) => ({
    name,
    title: name,
    unit: "",
  })),
  rows: [
    [0, 0, 0, "unknown", "", ""],
    [1, 5, 2, "induction, copying", "induction: 0.94 (at least 0.4); copying: 0.98 (at least 0.5)", ""],
  ],
};

describe("the names of a head", () => {
  it("come with what each rests on", () => {
    expect(namedIn(table, { layer: 1, head: 5 })).toEqual({
      names: "induction, copying",
      evidence: ["induction: 0.94 (at least 0.4)", "copying: 0.98 (at least 0.5)"],
      conflicts: "",
    });
  });

  it("may be none, with no evidence", () => {
    expect(namedIn(table, { layer: 0, head: 0 })?.evidence).toEqual([]);
  });

  it("aren't there for a head that isn't", () => {
    expect(namedIn(table, { layer: 7, head: 0 })).toBeNull();
  });
});
