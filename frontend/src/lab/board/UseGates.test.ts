import { expect, it } from "vitest";
import { commandsFor } from "./UseGates";

const ANALYSES: Parameters<typeof commandsFor>[0] = [
  { name: "chg", references: {}, needs_task: true },
  { name: "induction", references: { gates: "gates" }, needs_task: false },
  { name: "battery", references: { prompts: "prompts", gates: "gates" }, needs_task: false },
  { name: "evaluation", references: { gates: "gates", tasks: "tasks" }, needs_task: false },
];
const VECTOR = { model: "m", id: "9f" };

it("names the commands that saved gates make possible, and none that would fail", () => {
  const bake = "headscope gates bake 9f -o m-gated";
  expect(commandsFor(ANALYSES, VECTOR, null)).toEqual([
    "headscope run induction --model m --param gates=9f",
    bake,
  ]);
  expect(commandsFor(ANALYSES, VECTOR, "3c")).toEqual([
    "headscope run induction --model m --param gates=9f",
    "headscope run battery --model m --param prompts=3c --param gates=9f",
    bake,
  ]);
});
