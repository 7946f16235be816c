import { expect, it } from "vitest";
import { commandIn } from "./Remedy";

it.each([
  ["headscope models fetch smollm2-135m", "headscope models fetch smollm2-135m"],
  ["Run `headscope models fetch a/b`, which takes 93 MB.", "headscope models fetch a/b"],
  ["The folder has no config.json.", null],
])("finds the command in %j", (remedy, command) => expect(commandIn(remedy)).toBe(command));
