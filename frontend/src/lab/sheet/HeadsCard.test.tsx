// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { resizeTo, strokesOf, textsOf } from "../../testing/browser";
import { playLab } from "../../testing/lab";
import { button, inAddress, openPage, textOf } from "../../testing/page";
import { above, encoded, look, TOO_FEW } from "../../testing/samples";
import { LABEL, sheet } from "./order";

const LOOK = "POST /api/v1/lab/look";

const card = () => within(screen.getByRole("region", { name: "All heads" }));
const box = () => card().getByRole("application", { name: /^Patterns of/ });

function canvas(): HTMLCanvasElement {
  const found = box().querySelector("canvas");
  if (!found) throw new Error("The sheet has no canvas.");
  return found;
}

async function open(address = "/lab", routes: Parameters<typeof playLab>[0] = {}) {
  const network = playLab(routes);
  openPage(address);
  await screen.findByRole("region", { name: "All heads" });
  return network;
}

/** The middle of a place in the sheet. */
function middle(place: number) {
  const { columns, side, rowHeight, gap } = sheet(640, 8);
  return {
    clientX: (place % columns) * (side + gap) + side / 2,
    clientY: Math.floor(place / columns) * rowHeight + side / 2,
  };
}

const roll = () => canvas().parentElement as HTMLElement;
const names = () => textsOf(canvas()).filter((text) => /^\d\.\d$/.test(text));
const selected = () => textOf(screen.getByRole("region", { name: "Selected head" }).querySelector("h2"));

describe("the sheet of all heads", () => {
  it("has the strongest first, its score under it, and what has no value last", async () => {
    await open();
    await waitFor(() => expect(names()).toHaveLength(8));
    expect(textsOf(canvas())).toEqual(
      ["1.3", "0.80", "1.0", "0.20", "0.1", "0.10", "0.0", "0.05", "0.2", "0.02", "1.1", "0.01"].concat([
        "0.3",
        "0.00",
        "1.2",
        "–",
      ]),
    );
    expect(strokesOf(canvas(), "drawImage")).toHaveLength(8);
  });

  it("is sorted otherwise by a choice that the address holds", async () => {
    await open();
    fireEvent.click(card().getByLabelText("entropy"));
    expect(inAddress("sort")).toBe("entropy");
    expect(card().getByRole("heading", { name: "Heads, the most focused first" })).toBeTruthy();
    await waitFor(() => expect(names()[0]).toBe("1.3"));
    fireEvent.click(card().getByLabelText("layer"));
    await waitFor(() => expect(names()).toEqual(["0.0", "0.1", "0.2", "0.3", "1.0", "1.1", "1.2", "1.3"]));
    // In the model's own order there is no score to show.
    expect(textsOf(canvas())).toEqual(names());
    expect(card().queryByLabelText(/at least/)).toBeNull();
  });

  it("says what a head under the pointer does, and selects it by a click", async () => {
    await open("/lab?mute=1.0:0.5");
    const reading = () => textOf(box().nextElementSibling);
    expect(reading()).toMatch(/^Click a head to see it enlarged/);
    fireEvent.pointerMove(roll(), middle(1));
    expect(reading()).toBe("Layer 1 · head 0: induction 0.200, entropy 0.600 nats · 50 %");
    fireEvent.click(roll(), middle(1));
    expect(inAddress("head")).toBe("1.0");
    expect(selected()).toBe("Layer 1 · head 0");
    fireEvent.pointerLeave(roll());
    expect(reading()).toMatch(/^Click a head/);
    // Between two pictures there is no head.
    const { side, gap } = sheet(640, 8);
    fireEvent.click(roll(), { clientX: side + gap / 2, clientY: 5 });
    expect(inAddress("head")).toBe("1.0");
  });

  it("is walked by keys, which mute and deselect as well", async () => {
    await open();
    const press = (key: string) => fireEvent.keyDown(box(), { key });
    press("ArrowRight");
    expect(inAddress("head")).toBe("1.3");
    press("ArrowRight");
    expect(inAddress("head")).toBe("1.0");
    press("m");
    expect(inAddress("mute")).toBe("1.0");
    await waitFor(() => expect(strokesOf(canvas(), "drawImage").map(({ alpha }) => alpha)[1]).toBe(0.25));
    press("Escape");
    expect(inAddress("head")).toBeNull();
  });

  it("leads by Enter or a double click to the head, large", async () => {
    await open();
    fireEvent.doubleClick(roll(), middle(0));
    expect(document.activeElement).toBe(screen.getByRole("region", { name: "Selected head" }));
    expect(inAddress("head")).toBe("1.3");
    box().focus();
    fireEvent.keyDown(box(), { key: "Enter" });
    expect(document.activeElement).toBe(screen.getByRole("region", { name: "Selected head" }));
  });

  it("lies in as many columns as there is room for", async () => {
    await open();
    const rows = () => Math.round(Number.parseFloat(box().style.getPropertyValue("--roll")));
    expect(rows()).toBe(Math.round(sheet(640, 8).rows * sheet(640, 8).rowHeight));
    act(() => resizeTo(210));
    const narrow = sheet(210, 8);
    expect(narrow.columns).toBe(2);
    expect(rows()).toBe(Math.round(narrow.rows * (narrow.side + LABEL + narrow.gap)));
  });

  it("paints on dark ground with pale marks where the page is dark", async () => {
    const background = () => {
      const page = strokesOf(canvas(), "drawImage")[0]?.args[0] as HTMLCanvasElement;
      const made = strokesOf(page, "putImageData")[0]?.args[0] as ImageData;
      // The first head's weights are all of the first token: left out of the scale, grey.
      return [...made.data.slice(0, 3)];
    };
    await open();
    await waitFor(() => expect(strokesOf(canvas(), "drawImage").length).toBe(8));
    expect(background()).toEqual([214, 211, 203]);
    fireEvent.click(button("Light or dark"));
    fireEvent.click(screen.getByRole("menuitemradio", { name: "Dark" }));
    await waitFor(() => expect(background()).toEqual([66, 70, 79]));
  });
});

describe("which heads are shown", () => {
  it("are those of at least a score, and how to have all back where none is", async () => {
    await open();
    const least = card().getByLabelText(/Induction at least/);
    fireEvent.change(least, { target: { value: "0.1" } });
    expect(inAddress("least")).toBe("0.1");
    expect(card().getByText("3 of 8 heads")).toBeTruthy();
    await waitFor(() => expect(names()).toEqual(["1.3", "1.0", "0.1"]));
    fireEvent.change(least, { target: { value: "0.9" } });
    expect(textOf(card().getByText(/No head reaches/))).toBe("No head reaches 0.900. Show all 8");
    fireEvent.click(button("Show all 8"));
    expect(inAddress("least")).toBeNull();
  });

  it("says why a score has no value, and shows the heads all the same", async () => {
    const none = encoded([...Array(8).fill(Number.NaN), ...Array(8).fill(1)], "2, 2, 4");
    await open("/lab", { [LOOK]: look({ values: none, copies: [[], [], [], [], []] }) });
    expect(card().getByText("Induction has no value on this prompt: no token in it repeats.")).toBeTruthy();
    expect(box()).toBeTruthy();
  });
});

describe("too few repeats", () => {
  it("name nobody: heads are ranked by random ones, on the board and in its presets too", async () => {
    await open("/lab", { [LOOK]: look({ above: TOO_FEW }) });
    expect(card().getByText(/^Too few repeats to tell: this prompt has 2 tokens/)).toBeTruthy();
    expect(card().getByRole("heading", { name: /strongest induction on random repeats first/ })).toBeTruthy();
    await waitFor(() => expect(names()[0]).toBe("0.2"));
    expect(screen.getByText(/Darker is stronger on random tokens that repeat/)).toBeTruthy();
    fireEvent.click(button("Preset ▾"));
    fireEvent.click(
      screen.getByRole("menuitem", { name: "Mute the strongest (induction on random repeats)" }),
    );
    expect(inAddress("mute")).toBe("0.2");
  });

  it("say nothing where there are enough", async () => {
    await open("/lab", { [LOOK]: look({ above: above() }) });
    expect(card().queryByText(/Too few repeats/)).toBeNull();
    await waitFor(() => expect(names()[0]).toBe("1.3"));
  });
});

describe("how the colours read", () => {
  it("is told, and whether the first token counts", async () => {
    await open();
    expect(
      card().getByText(/Most attention, 60\.0.%, goes to the first token: it is drawn grey/),
    ).toBeTruthy();
    fireEvent.click(card().getByLabelText(/Include the first and special tokens/));
    expect(inAddress("sink")).toBe("1");
    expect(card().getByText(/it is included in the colour scale/)).toBeTruthy();
  });

  it("may weigh by the values' size, for which the model is asked again", async () => {
    const network = await open();
    fireEvent.click(card().getByLabelText("Weight by value norm"));
    expect(inAddress("weighted")).toBe("1");
    await waitFor(() => expect(network.asked(LOOK).at(-1)?.body.weighted).toBe(true));
  });
});

describe("the table of all heads", () => {
  it("says every score and gate as a number, and selects a head", async () => {
    await open("/lab?mute=1.3,0.1:0.25");
    fireEvent.click(button("Table"));
    expect(button("Table").getAttribute("aria-pressed")).toBe("true");
    const table = within(card().getByRole("region", { name: "Scores of each head on this prompt" }));
    expect(table.getAllByRole("columnheader").map(textOf)).toEqual([
      "head",
      "Induction",
      "Entropy nats",
      "gate",
    ]);
    const rows = table
      .getAllByRole("row")
      .slice(1)
      .map((row) => [...row.children].map(textOf));
    expect(rows[0]).toEqual(["1.3", "0.800", "0.300", "muted"]);
    expect(rows.find(([head]) => head === "0.1")).toEqual(["0.1", "0.100", "0.900", "25 %"]);
    expect(rows.at(-1)).toEqual(["1.2", "–", "0.400", "open"]);
    expect(rows.find(([head]) => head === "0.3")?.[1]).toBe("< 0.001");
    fireEvent.click(table.getByRole("button", { name: "0.1" }));
    expect(selected()).toBe("Layer 0 · head 1");
  });
});

describe("from one prompt to many", () => {
  it("leads to the model's induction run, or to the form where there is none", async () => {
    await open();
    const form = await screen.findByRole("link", { name: "Measure every head" });
    expect(form.getAttribute("href")).toBe("/new?analysis=induction&model=tiny");
  });

  it("leaves out runs of gated models", async () => {
    const runs = [
      { id: "gated", params: { gates: "9f" } },
      { id: "whole", params: {} },
    ];
    await open("/lab", { "GET /api/v1/runs": { runs, total: 2 } });
    const link = await screen.findByRole("link", { name: "See every head" });
    expect(link.getAttribute("href")).toBe("/runs/whole");
  });
});
