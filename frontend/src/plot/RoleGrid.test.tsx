// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import type { Figure } from "../api/types";
import { grid } from "../testing/circuits";
import { answering } from "../testing/network";
import { renderPart, textOf } from "../testing/page";
import { drawingIn, point } from "../testing/plotly";
import { DEFAULT_VIEW, type View } from "../url/view";
import { RoleGrid } from "./RoleGrid";
import { WhenSeen } from "./WhenSeen";

vi.mock("plotly.js-cartesian-dist-min", () => import("../testing/plotly"));

// Two seeds of two layers of four heads: 1.3 is needed in both, 0.0 harmful in the second, the rest doesn't matter.
const plus = Float32Array.from([1, 1, 1, 1, 1, 1, 1, 1, 0.1, 1, 1, 1, 1, 1, 1, 1]);
const minus = Float32Array.from([0, 0, 0, 0, 0, 0, 0, 0.9, 0, 0, 0, 0, 0, 0, 0, 0.6]);
const gates = { seeds: 2, layers: 2, heads: 4, plus, minus };

const role = () => screen.getByRole("application", { name: /^Role grid: 2 layers of 4 heads/ });
const stripes = (data: Figure["data"] = []) => ((data[0]?.z ?? []) as Uint8Array[]).map((row) => [...row]);
const rows = () => stripes(drawingIn(role())?.data);

function figure(verdicts?: string[]): Figure {
  const plain = grid("Roles") as unknown as Figure;
  Object.assign(plain.layout.meta as object, { cell_columns: 3, seeds: 2, verdicts });
  return plain;
}

async function show(change: Partial<View> = {}, verdicts?: string[]) {
  answering({});
  const heard = { onSelect: vi.fn(), onOpen: vi.fn(), onFigure: vi.fn() };
  const part = (view: View) => <RoleGrid figure={figure(verdicts)} gates={gates} view={view} {...heard} />;
  const { rerender } = renderPart(part({ ...DEFAULT_VIEW, ...change }));
  await waitFor(() => expect(drawingIn(role())).toBeDefined());
  return { ...heard, view: (next: Partial<View>) => rerender(part({ ...DEFAULT_VIEW, ...next })) };
}

describe("the role grid", () => {
  it("has a stripe for each seed, and follows threshold and mode", async () => {
    const { view } = await show();
    // 1 needed, 2 harmful, 4 doesn't matter, 5 a gap.
    expect(rows()[0]).toEqual([4, 2, 5, 4, 4]);
    expect(rows()[6]).toEqual([4, 4, 5, 1, 1]);
    view({ threshold: 0.7 });
    await waitFor(() => expect(rows()[6]).toEqual([4, 4, 5, 1, 0]));
    view({ mode: "any" });
    await waitFor(() => expect(rows()[0]).toEqual([2, 2, 5, 4, 4]));
    view({ mode: "always" });
    await waitFor(() => expect(rows()[0]).toEqual([0, 0, 5, 4, 4]));
  });

  it("fills a cell as far as its verdict goes", async () => {
    const box = (d: string | null | undefined, at: number) => {
      const numbers = (d?.split("M")[at]?.match(/-?[\d.]+/g) ?? []).map(Number);
      return Math.max(...numbers) - Math.min(...numbers);
    };
    const drawn = async (verdicts?: string[]) => {
      cleanup();
      await show({}, verdicts);
      const path = (name: string) => role().querySelector(name)?.getAttribute("d");
      // The mask is the plot's area first, then the cells; the hairlines are of whole cells always.
      return { mask: path(".grid-mask"), lines: path(".grid-cells") };
    };
    const whole = await drawn();
    const part = await drawn(["2100", "0002"]);
    expect(part.lines).toBe(whole.lines);
    const last = 9;
    for (const at of [2, last]) expect(part.mask?.split("M")[at]).toBe(whole.mask?.split("M")[at]);
    expect(part.mask?.split("M")[3]).not.toBe(whole.mask?.split("M")[3]);
    expect(box(part.mask, 3)).toBeLessThan(box(whole.mask, 3));
    expect(box(part.mask, 4)).toBeLessThan(box(whole.mask, 4));
  });

  it("lies turned with layers from top to bottom", async () => {
    const { onSelect } = await show({ turned: true, head: { layer: 0, head: 1 } });
    expect(rows()).toHaveLength(3);
    expect(rows()[2]?.slice(-2)).toEqual([1, 1]);
    fireEvent.keyDown(role(), { key: "ArrowDown" });
    expect(onSelect).toHaveBeenLastCalledWith({ layer: 1, head: 1 });
  });

  it("tells roles and gates over the seeds under the pointer", async () => {
    await show();
    point(role(), "hover", { pointNumber: [0, 0] });
    const said = textOf(document.querySelector(".tooltip"));
    expect(said).toContain("Layer 0 · head 0");
    expect(said).toContain("harmful in 1 of 2interfering");
    expect(said).toContain("doesn’t matter in 1 of 2irrelevant");
    expect(said).toMatch(/G\+ pushed open10\.0.% – 100.%/);
    fireEvent.mouseLeave(role());
    expect(document.querySelector(".tooltip")).toBeNull();
  });

  it("selects by a click, opens by Enter, deselects by Escape", async () => {
    const { onSelect, onOpen, view } = await show();
    point(role(), "click", { pointNumber: [6, 3] });
    expect(onSelect).toHaveBeenLastCalledWith({ layer: 1, head: 3 });
    // Nothing is selected yet: these keys are the browser's.
    expect(fireEvent.keyDown(role(), { key: "Enter" })).toBe(true);
    view({ head: { layer: 1, head: 3 } });
    expect(textOf(role().querySelector("[aria-live]"))).toBe("Layer 1, head 3: needed in 2 of 2 seeds");
    fireEvent.keyDown(role(), { key: "Enter" });
    expect(onOpen).toHaveBeenCalledOnce();
    fireEvent.keyDown(role(), { key: "Escape" });
    expect(onSelect).toHaveBeenLastCalledWith(null);
  });

  it("is saved as it is drawn, with round cells", async () => {
    const { onFigure } = await show();
    await waitFor(() => expect(onFigure).toHaveBeenCalled());
    const [[figure]] = onFigure.mock.calls as [[() => Figure]];
    const { data, layout } = figure();
    expect(layout.shapes).toMatchObject([{ name: "cells" }, { name: "kv-groups" }]);
    expect(stripes(data)[6]).toEqual([4, 4, 5, 1, 1]);
  });
});

it("what is far down a page comes when someone gets to it", () => {
  let seen: (entries: { isIntersecting: boolean }[]) => void = () => {};
  const disconnect = vi.fn();
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(heard: typeof seen) {
        seen = heard;
      }
      observe() {}
      disconnect = disconnect;
    },
  );
  answering({});
  renderPart(
    <WhenSeen>
      <p>far down</p>
    </WhenSeen>,
  );
  expect(screen.queryByText("far down")).toBeNull();
  act(() => seen([{ isIntersecting: false }]));
  expect(screen.queryByText("far down")).toBeNull();
  act(() => seen([{ isIntersecting: true }]));
  expect(screen.getByText("far down")).toBeTruthy();
  expect(disconnect).toHaveBeenCalled();
});
