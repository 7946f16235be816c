// @vitest-environment jsdom
import { fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it, vi } from "vitest";
import { answering } from "../testing/network";
import { renderPart, textOf } from "../testing/page";
import { complaints } from "./complaints";
import { SchemaForm } from "./SchemaForm";
import { fieldsOf, presetValues, type Values } from "./schema";

const SCHEMA = {
  type: "object",
  properties: {
    seeds: {
      type: "integer",
      minimum: 1,
      maximum: 64,
      default: 10,
      title: "Seeds",
      description: "How many fits.",
    },
    rate: { type: "number", exclusiveMinimum: 0, default: 0.1, title: "Rate" },
    shots: { anyOf: [{ type: "integer", minimum: 0 }, { type: "null" }], default: null, title: "Shots" },
    dtype: {
      anyOf: [{ enum: ["float32", "bfloat16"] }, { type: "null" }],
      default: null,
      title: "Precision",
    },
    clamp: { type: "boolean", default: false, title: "Clamp" },
    words: { type: "array", items: { type: "string" }, default: [], title: "Words" },
    run: { type: "string", default: "", title: "Run" },
  },
};
const PRESETS = { quick: { seeds: 3, rate: 0.2 } };
const groups = fieldsOf(SCHEMA, PRESETS);
const fields = groups.flat();

const input = (name: string) => screen.getByLabelText<HTMLInputElement>(name);
const type = (name: string, value: string) => fireEvent.change(input(name), { target: { value } });
const hint = (name: string) =>
  textOf(document.getElementById(input(name).getAttribute("aria-describedby") ?? ""));

const onValues = vi.fn();

function Form({ picked }: { picked?: boolean }) {
  const [values, setValues] = useState<Values>(presetValues(fields, PRESETS.quick));
  return (
    <>
      <SchemaForm
        groups={groups}
        values={values}
        complaints={complaints(SCHEMA, fields, values)}
        onChange={(next) => {
          onValues(next);
          setValues(next);
        }}
        picker={({ field, shared, value, onChange }) =>
          picked && field.name === "run" ? (
            <button type="button" {...shared} onClick={() => onChange("r1")}>
              {String(value) || "choose"}
            </button>
          ) : undefined
        }
      />
      <button type="button" onClick={() => setValues({ ...values, seeds: 7 })}>
        Seven seeds
      </button>
    </>
  );
}

function show(picked = false) {
  onValues.mockClear();
  answering({});
  renderPart(<Form picked={picked} />);
}

const last = () => onValues.mock.lastCall?.[0] as Values;

describe("a form of settings", () => {
  it("begins with the preset, what it names first and the rest folded away", () => {
    show();
    expect([input("Seeds").value, input("Rate").value, input("Shots").value]).toEqual(["3", "0.2", ""]);
    expect(hint("Seeds")).toBe("How many fits.");
    const more = screen.getByText("More settings").closest("details");
    expect([more?.open, more?.contains(input("Seeds")), more?.contains(input("Shots"))]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("keeps what is typed as it is typed, while it gives the value", () => {
    show();
    type("Rate", "0.");
    expect([input("Rate").value, last().rate]).toEqual(["0.", 0]);
    type("Rate", "1e-");
    expect([input("Rate").value, last().rate]).toEqual(["1e-", Number.NaN]);
    type("Rate", "1e-3");
    expect(last().rate).toBe(0.001);
    type("Words", "one\n\ntwo");
    expect([input("Words").value, last().words]).toEqual(["one\n\ntwo", ["one", "two"]]);
  });

  it("says at the field what is wrong, aloud too, and takes it back", () => {
    show();
    type("Seeds", "65");
    expect(hint("Seeds")).toBe("Must be a whole number from 1 to 64.");
    expect(input("Seeds").getAttribute("aria-invalid")).toBe("true");
    expect(input("Seeds").closest(".field")?.className).toBe("field bad");
    type("Seeds", "64");
    expect(hint("Seeds")).toBe("How many fits.");
    expect(input("Seeds").getAttribute("aria-invalid")).toBe("false");
  });

  it("unfolds where something folded away is wrong", () => {
    show();
    type("Shots", "-1");
    expect(screen.getByText("More settings").closest("details")?.open).toBe(true);
  });

  it("takes a choice, a tick, and nothing where it may be left empty", () => {
    show();
    type("Precision", "bfloat16");
    expect(last().dtype).toBe("bfloat16");
    type("Precision", "");
    expect(last().dtype).toBeNull();
    fireEvent.click(input("Clamp"));
    expect(last().clamp).toBe(true);
    type("Shots", "2");
    type("Shots", "");
    expect(last().shots).toBeNull();
    expect(input("Shots").placeholder).toBe("unset");
  });

  it("follows values that come from elsewhere, but not from under what is being typed", () => {
    show();
    type("Seeds", "x");
    expect(input("Seeds").value).toBe("x");
    fireEvent.click(screen.getByText("Seven seeds"));
    expect(input("Seeds").value).toBe("7");
  });

  it("has a picker in place of an input, with the field's label and hint", () => {
    show(true);
    const picker = screen.getByLabelText("Run");
    expect(picker.tagName).toBe("BUTTON");
    fireEvent.click(picker);
    expect(last().run).toBe("r1");
    expect(picker.textContent).toBe("r1");
  });
});
