// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Queries } from "../api/query";
import type { Analysis, Model, Task } from "../api/types";
import { NEW_RUN } from "../url/view";
import { NewRunForm } from "./NewRunForm";

// The network is played: no gates are kept, and every estimate refuses.
const nullable = { anyOf: [{ type: "string" }, { type: "null" }], default: null, needed: true };
const list = { type: "array", items: { type: "string" }, default: [], needed: true };
const evaluation = {
  name: "evaluation",
  title: "Gates on tasks",
  needs: ["gating"],
  needs_task: false,
  references: { gates: "gates", tasks: "tasks" },
  presets: {},
  params_schema: {
    properties: { gates: { title: "Gates", ...nullable }, tasks: { title: "Tasks", ...list } },
  },
} as unknown as Analysis;
const models = [{ name: "small", title: "Small", ready: true }] as Model[];
const tasks = ["one", "two", "three"].map((name) => ({ name, title: `The ${name}` })) as Task[];

beforeEach(() => {
  vi.stubGlobal("fetch", async ({ url }: Request) =>
    url.includes("estimate")
      ? new Response(JSON.stringify({ status: 422, code: "c", detail: "Can't be.", remedy: "Change it." }), {
          status: 422,
        })
      : new Response("[]"),
  );
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function form(params: Record<string, string>) {
  const place = { page: "new" as const, ...NEW_RUN, model: "small", params };
  render(
    <NewRunForm place={place} analysis={evaluation} analyses={[evaluation]} models={models} tasks={tasks} />,
    { wrapper: Queries },
  );
}

describe("a form of references", () => {
  it("ticks the tasks that an address names with commas between, and says which, wherever the list is scrolled", async () => {
    form({ tasks: "three, one" });
    expect((screen.getByLabelText("The three") as HTMLInputElement).checked).toBe(true);
    expect(screen.getByText("The one · The three")).toBeTruthy();
    fireEvent.click(screen.getByLabelText("The one"));
    await waitFor(() => expect(screen.queryByText("The one · The three")).toBeNull());
  });

  it("is one stop of the Tab key, whose arrows go from task to task", () => {
    form({ tasks: "two" });
    const boxes = screen.getAllByRole("checkbox") as HTMLInputElement[];
    const stops = () =>
      boxes.filter(({ tabIndex }) => tabIndex === 0).map((box) => box.labels?.[0]?.textContent);
    expect(stops()).toEqual(["The two"]);
    boxes[1]?.focus();
    fireEvent.keyDown(boxes[1] as Element, { key: "ArrowDown" });
    expect(document.activeElement).toBe(boxes[2]);
    expect(stops()).toEqual(["The three"]);
    fireEvent.keyDown(boxes[2] as Element, { key: "ArrowDown" });
    expect(document.activeElement).toBe(boxes[2]);
    fireEvent.keyDown(boxes[2] as Element, { key: "Home" });
    expect(document.activeElement).toBe(boxes[0]);
  });

  it("says where gates come from when none are kept, and one is needed", async () => {
    form({});
    await waitFor(() => expect(screen.getByText("save some on the mixing board")).toBeTruthy());
  });

  it("offers no second try of settings that can't be used", async () => {
    form({ gates: "abc", tasks: "one" });
    await waitFor(() => expect(screen.getByText("Change it.")).toBeTruthy());
    expect(screen.queryByText("Try again")).toBeNull();
  });
});
