import { expect, test } from "vitest";
import { componentName, parseComponent } from "./ComponentPicker";

test.each(["embed", "position", "unembed", "mlp 12", "0.3", "29.8", "1.5 q", "1.5 k", "17.4 v"])(
  "%s is read back as it was written",
  (name) => expect(componentName(parseComponent(name))).toBe(name),
);

test("what is no component starts from the embedding", () =>
  expect(componentName(parseComponent("0.3 x"))).toBe("embed"));
