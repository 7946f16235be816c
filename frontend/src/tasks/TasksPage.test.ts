import { expect, it } from "vitest";
import { nameOf } from "./TasksPage";

it.each([
  ["My Colours (v2).csv", "my-colours-v2"],
  ["rows.jsonl", "rows"],
  ["été.csv", "t"],
])("a file %s suggests the name %s", (file, name) => expect(nameOf(file)).toBe(name));
