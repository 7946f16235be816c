// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/errors";
import type { Figure } from "../api/types";
import { resizeTo, systemDark } from "../testing/browser";
import { dots, grid, SCORES } from "../testing/circuits";
import { answering, later, problem } from "../testing/network";
import { button, renderPart, textOf } from "../testing/page";
import { drawingIn, images, point } from "../testing/plotly";
import { Picture, type Selection } from "./Picture";

vi.mock("plotly.js-cartesian-dist-min", () => import("../testing/plotly"));

const TABLE = "GET /api/v1/runs/run12345678/tables/scores";
const source = {
  run: { id: "run12345678", result: "sha" },
  figure: "scores",
  share: null,
  view: { threshold: 0.4, mode: "always" as const },
};
const loaded = (data: unknown) => ({
  data: data as Figure | undefined,
  error: null,
  isLoading: data === undefined,
  refetch: vi.fn(),
});

const card = () => screen.getByRole("region");

async function show(data: unknown, selection?: Selection) {
  const network = answering({ [TABLE]: SCORES });
  const rendered = renderPart(
    <Picture title="scores" figure={loaded(data)} source={source} {...(selection && { selection })} />,
  );
  if (data) await waitFor(() => expect(drawingIn(card())).toBeDefined());
  return { network, ...rendered };
}

const layout = () => drawingIn(card())?.layout as Record<string, unknown>;
const traces = () => drawingIn(card())?.data ?? [];

beforeEach(() => {
  images.length = 0;
});

describe("a picture", () => {
  it("says its own title and reading, and is named for who can't see it", async () => {
    await show(dots("Scores of heads"));
    expect(screen.getByRole("heading", { name: "Scores of heads" })).toBeTruthy();
    expect(screen.getByText("Each dot is a head.")).toBeTruthy();
    expect(
      screen.getByRole("img", { name: "Scores of heads. The Table button shows the same as numbers." }),
    ).toBeTruthy();
  });

  it("fills the page's width up to its own, and follows it", async () => {
    await show(dots("Scores", { max_width: 500 }));
    expect(layout()).toMatchObject({ width: 500, height: 240 });
    act(() => resizeTo(320));
    await waitFor(() => expect(layout().width).toBe(320));
  });

  it("scrolls sideways rather than press many axes together", async () => {
    const figure = dots("Facets");
    const axis = (begin: number) => ({ domain: [begin, begin + 0.2] });
    Object.assign(figure.layout, {
      xaxis: axis(0),
      xaxis2: axis(0.25),
      xaxis3: axis(0.5),
      xaxis4: axis(0.75),
    });
    await show(figure);
    expect(layout().width).toBe(4 * 180);
  });

  it("keeps equal units both ways no taller than it is wide", async () => {
    const figure = dots("Square");
    Object.assign(figure.layout, { height: 700, yaxis: { scaleanchor: "x" } });
    await show(figure);
    act(() => resizeTo(300));
    await waitFor(() => expect(layout().height).toBe(390));
  });

  it("wears the page's theme, and changes with it", async () => {
    await show(dots("Scores"));
    expect(layout().template).toEqual({ name: "light" });
    act(() => systemDark(true));
    await waitFor(() => expect(layout().template).toEqual({ name: "dark" }));
    // A colour of the light palette is its counterpart in the dark one.
    expect(traces()[0]?.marker).toEqual({ color: "#eeeeee" });
  });

  it("rings the selected head in the page's ink, and selects what is clicked", async () => {
    const onSelect = vi.fn();
    await show(dots("Scores"), { head: { layer: 1, head: 3 }, onSelect });
    const ring = traces()[1];
    expect([ring?.x, ring?.y]).toEqual([[2], [4]]);
    expect(ring?.marker).toMatchObject({ symbol: "circle-open", color: "#111111" });
    point(card(), "click", { customdata: [0, 1] });
    expect(onSelect).toHaveBeenCalledExactlyOnceWith({ layer: 0, head: 1 });
    point(card(), "click", { customdata: "no head" });
    expect(onSelect).toHaveBeenCalledOnce();
  });

  it("loads, or says why it can't be had", async () => {
    const { rerender } = await show(undefined);
    expect(screen.getByRole("heading", { name: "scores" })).toBeTruthy();
    expect(card().querySelector(".skeleton")).not.toBeNull();
    const error = new ApiError({
      type: "",
      title: "",
      status: 500,
      code: "x",
      detail: "Broken.",
      remedy: "Fix it.",
    });
    const failed = { ...loaded(undefined), error, isLoading: false };
    rerender(<Picture title="scores" figure={failed} source={source} />);
    fireEvent.click(within(screen.getByRole("alert")).getByRole("button", { name: "Try again" }));
    expect(failed.refetch).toHaveBeenCalledOnce();
  });
});

describe("its files", () => {
  it("are the picture as it is, but without the selection, and the numbers", async () => {
    await show(dots("Scores"), { head: { layer: 1, head: 3 }, onSelect: () => {} });
    fireEvent.click(button("Download"));
    const address = (name: RegExp) => screen.getByRole("menuitem", { name }).getAttribute("href") ?? "";
    const csv = new URL(address(/CSV/), "http://here");
    expect(csv.pathname).toBe("/api/v1/runs/run12345678/export");
    expect(Object.fromEntries(csv.searchParams)).toEqual({
      format: "csv",
      figure: "scores",
      threshold: "0.4",
      mode: "always",
    });
    fireEvent.click(screen.getByRole("menuitem", { name: "Picture, PNG" }));
    await waitFor(() => expect(images).toHaveLength(1));
    expect(images[0]?.options).toMatchObject({
      format: "png",
      filename: "headscope-run12345-scores",
      width: 640,
      height: 240,
      scale: 2,
    });
    expect(images[0]?.figure.data).toHaveLength(1);
    expect(screen.queryByRole("menu")).toBeNull();
  });

  it("have no picture before there is one", async () => {
    await show(undefined);
    fireEvent.click(button("Download"));
    expect(screen.getByRole<HTMLButtonElement>("menuitem", { name: "Picture, SVG" }).disabled).toBe(true);
    expect(screen.getByRole("menuitem", { name: "Numbers, JSON" })).toBeTruthy();
  });
});

describe("its table", () => {
  it("has the same as numbers, counts whole and measures to three figures", async () => {
    const { network } = await show(dots("Scores"));
    fireEvent.click(button("Table"));
    const table = within(await screen.findByRole("table", { name: "Scores" }));
    expect(table.getAllByRole("row").map((row) => [...row.children].map(textOf))).toEqual([
      ["layer", "head", "Copying score", "Note"],
      ["0", "0", "0.250", ""],
      ["1", "3", "0.988", "copies"],
    ]);
    expect(network.asked(TABLE)[0]?.query.get("threshold")).toBe("0.4");
    expect(screen.queryByRole("img")).toBeNull();
    fireEvent.click(button("Picture"));
    expect(screen.getByRole("img")).toBeTruthy();
  });

  it("has words for what is no number, and units beside their titles", async () => {
    const { network } = await show(dots("Scores"));
    const columns = [{ name: "a", title: "Loss", unit: "nats" }];
    network.answer({ [TABLE]: { columns, rows: [[true], [false], [null], [1234567], [-0.5]] } });
    fireEvent.click(button("Table"));
    const table = within(await screen.findByRole("table"));
    expect(table.getAllByRole("columnheader").map(textOf)).toEqual(["Loss nats"]);
    expect(table.getAllByRole("cell").map(textOf)).toEqual(["yes", "no", "–", "1,234,567", "−0.500"]);
  });

  it("loads, or says why it can't be had", async () => {
    const { network } = await show(dots("Scores"));
    const slow = later();
    network.answer({ [TABLE]: slow.answer });
    fireEvent.click(button("Table"));
    expect(screen.getByRole("status", { name: "Loading the table" })).toBeTruthy();
    slow.give(problem(410, { code: "x", detail: "The table is gone.", remedy: "" })());
    expect(await screen.findByText("The table is gone.")).toBeTruthy();
    network.answer({ [TABLE]: SCORES });
    fireEvent.click(button("Try again"));
    expect(await screen.findByRole("table")).toBeTruthy();
  });
});

describe("a map of heads", () => {
  const map = () => screen.getByRole("application", { name: /^Copying: 2 layers of 4 heads/ });
  const tooltip = () => textOf(document.querySelector(".tooltip"));
  const onSelect = vi.fn();
  const open = (head: Selection["head"] = null, data: unknown = grid("Copying")) => {
    onSelect.mockClear();
    return show(data, { head, onSelect });
  };

  it("selects a head by a click on its cell, and none in a gap", async () => {
    await open();
    point(card(), "click", { pointNumber: [1, 0] });
    point(card(), "click", { pointNumber: [6, 2] });
    expect(onSelect.mock.calls).toEqual([[{ layer: 1, head: 3 }]]);
  });

  it("is walked by arrow keys; Escape deselects, other keys are the browser's", async () => {
    await open({ layer: 1, head: 0 });
    expect(fireEvent.keyDown(map(), { key: "ArrowDown" })).toBe(false);
    expect(onSelect).toHaveBeenLastCalledWith({ layer: 1, head: 1 });
    fireEvent.keyDown(map(), { key: "Escape" });
    expect(onSelect).toHaveBeenLastCalledWith(null);
    expect(fireEvent.keyDown(map(), { key: "ArrowDown", altKey: true })).toBe(true);
    expect(fireEvent.keyDown(map(), { key: "m" })).toBe(true);
    expect(onSelect).toHaveBeenCalledTimes(2);
  });

  it("tells the value under the pointer, on the side where there is room", async () => {
    await open();
    point(card(), "hover", { pointNumber: [2, 0] });
    expect(tooltip()).toBe("Layer 0 · head 1Copying0.510");
    expect(document.querySelector(".tooltip")?.className).toBe("tooltip");
    point(card(), "hover", { pointNumber: [2, 2] }, window.innerWidth - 10, 10);
    expect(document.querySelector(".tooltip")?.className).toBe("tooltip left below");
    point(card(), "unhover");
    expect(document.querySelector(".tooltip")).toBeNull();
  });

  it("tells the selected head aloud, in words where its values are kinds", async () => {
    const figure = grid("Copying", 0);
    const first = figure.data[0] as { z: unknown[][] };
    first.z[0] = [1, null, 0];
    Object.assign(figure.layout.meta, { words: ["no", "copies"] });
    await open({ layer: 0, head: 0 }, figure);
    expect(textOf(map().querySelector("[aria-live]"))).toBe("Layer 0, head 0: copies");
  });

  it("has a ring round the selected head, over round cells; one that isn't there has none", async () => {
    const { rerender } = await open({ layer: 1, head: 3 });
    const ring = document.querySelector(".grid-selected");
    // 230 pixels of plot for two layers: the second begins at half.
    expect(Number(ring?.getAttribute("x"))).toBeCloseTo(50 + 115 + 115 * 0.05 - 2, 1);
    expect(document.querySelector(".grid-cells")?.getAttribute("d")?.match(/M/g)).toHaveLength(8);
    const gone = { head: { layer: 9, head: 9 }, onSelect };
    rerender(<Picture title="scores" figure={loaded(grid("Copying"))} source={source} selection={gone} />);
    expect(document.querySelector(".grid-selected")).toBeNull();
  });

  it("is saved with its round cells, in the theme's colours", async () => {
    await open();
    fireEvent.click(button("Download"));
    fireEvent.click(screen.getByRole("menuitem", { name: "Picture, SVG" }));
    await waitFor(() => expect(images).toHaveLength(1));
    expect(images[0]?.figure.layout.shapes).toMatchObject([
      { name: "cells", fillcolor: "#ffffff", line: { color: "#dddddd", width: 1 } },
      { name: "kv-groups" },
    ]);
    expect(images[0]?.options).toMatchObject({ format: "svg", width: 300, scale: 1 });
  });

  it("keeps cells wide enough for a finger on a narrow page", async () => {
    await open();
    act(() => resizeTo(40));
    await waitFor(() => expect(layout().width).toBe(2 * 11 + 80));
  });
});
