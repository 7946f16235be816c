// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { playLab } from "../../testing/lab";
import { problem } from "../../testing/network";
import { button, findButton, inAddress, openPage, textOf } from "../../testing/page";
import { encoded, kept, run } from "../../testing/samples";

const GATES = "POST /api/v1/lab/gates";
const OPEN = [1, 1, 1, 1];

const board = () => within(screen.getByRole("region", { name: "Mixing board" }));
const fader = (name: RegExp) => board().getByRole<HTMLInputElement>("slider", { name });
const faders = () => board().getAllByRole("slider");
const cell = (name: string) => board().getByRole("gridcell", { name: new RegExp(`^${name},`) });
const state = () => textOf(board().getByRole("status"));

async function open(address = "/lab", routes: Parameters<typeof playLab>[0] = {}) {
  const network = playLab(routes);
  openPage(address);
  await screen.findByRole("grid");
  // The strengths of the cells come with the look.
  await screen.findByText(/Darker is stronger on this prompt \(induction\)/);
  return network;
}

function click(name: string) {
  fireEvent.pointerDown(cell(name), { button: 0, clientX: 0, clientY: 0, pointerId: 1 });
  fireEvent.pointerUp(cell(name), { clientX: 0, clientY: 0, pointerId: 1 });
}

function choose(menu: RegExp, item: RegExp) {
  fireEvent.click(board().getByRole("button", { name: menu }));
  fireEvent.click(screen.getByRole("menuitem", { name: item }));
}

describe("the board", () => {
  it("has a fader a head, the strongest first, and darker cells where the score is higher", async () => {
    await open();
    expect(faders().map((one) => one.getAttribute("aria-label"))[0]).toBe("Gate of layer 1, head 3");
    expect(cell("1.3").style.getPropertyValue("--strength")).toBe("100%");
    expect(cell("1.0").style.getPropertyValue("--strength")).toBe("25%");
    // No value on this prompt: nothing to shade.
    expect(cell("1.2").style.getPropertyValue("--strength")).toBe("0%");
    expect(state()).toBe("all open");
  });

  it("mutes a head by a click on its cell: the address says so, and the model is asked what that does", async () => {
    const network = await open();
    click("1.3");
    expect(inAddress("mute")).toBe("1.3");
    expect(inAddress("head")).toBe("1.3");
    expect(state()).toBe("1 head muted · selected: 1.3");
    await waitFor(() =>
      expect(network.asked(GATES).at(-1)?.body).toMatchObject({
        model: "tiny",
        text: " the cat the cat",
        gates: [OPEN, [1, 1, 1, 0]],
      }),
    );
  });

  it("asks while a fader moves, and writes the address when the hand lets go", async () => {
    const network = await open();
    const one = fader(/layer 0, head 1/);
    fireEvent.change(one, { target: { value: "0.4" } });
    fireEvent.change(one, { target: { value: "0.25" } });
    await waitFor(() => expect(network.asked(GATES).at(-1)?.body.gates).toEqual([[1, 0.25, 1, 1], OPEN]));
    expect(inAddress("mute")).toBeNull();
    expect(one.getAttribute("aria-valuetext")).toBe("25 %");
    fireEvent.pointerUp(one);
    expect(inAddress("mute")).toBe("0.1:0.25");
    // Passing by with Tab afterwards is no movement.
    fireEvent.blur(one);
    fireEvent.click(button("Undo"));
    expect(inAddress("mute")).toBeNull();
    expect(button("Undo").disabled).toBe(true);
  });

  it("mutes and opens by the name under a fader", async () => {
    await open("/lab?mute=1.3");
    fireEvent.click(button("Open layer 1, head 3"));
    expect(inAddress("mute")).toBeNull();
    fireEvent.click(button("Mute layer 1, head 3"));
    expect(inAddress("mute")).toBe("1.3");
  });

  it("goes back and forth by Ctrl and Z, but for a text field, which has its own", async () => {
    await open();
    click("0.0");
    click("0.2");
    fireEvent.keyDown(document.body, { key: "z", ctrlKey: true });
    expect(inAddress("mute")).toBe("0.0");
    fireEvent.keyDown(document.body, { key: "Z", ctrlKey: true, shiftKey: true });
    expect(inAddress("mute")).toBe("0.0,0.2");
    const field = await screen.findByLabelText(/Follow a token/);
    fireEvent.keyDown(field, { key: "z", metaKey: true });
    expect(inAddress("mute")).toBe("0.0,0.2");
    // A slider is no text field.
    fireEvent.keyDown(fader(/layer 0, head 0/), { key: "z", metaKey: true });
    expect(inAddress("mute")).toBe("0.0");
    expect(button("Redo").disabled).toBe(false);
  });

  it("lets the selected head play alone, and all together again", async () => {
    await open("/lab?head=0.1");
    fireEvent.click(button("Solo"));
    expect(inAddress("mute")).toBe("all,0.1:1");
    fireEvent.click(button("Solo"));
    expect(inAddress("mute")).toBeNull();
  });

  it("takes several heads by a box, and sets them together until they are let go", async () => {
    await open();
    fireEvent.click(button("Select"));
    expect(button("Select").getAttribute("aria-pressed")).toBe("true");
    const [from, to] = [cell("0.1"), cell("1.2")];
    const over = { clientX: 90, clientY: 90, pointerId: 1 };
    document.elementFromPoint = () => to;
    fireEvent.pointerDown(from, { button: 0, clientX: 0, clientY: 0, pointerId: 1 });
    fireEvent.pointerMove(from, over);
    fireEvent.pointerUp(from, over);
    expect(state()).toBe("all open · selected: 4 heads");
    expect(cell("1.1").getAttribute("aria-selected")).toBe("true");
    fireEvent.click(button("Mute layer 0, head 1"));
    expect(inAddress("mute")).toBe("0.1,0.2,1.1,1.2");
    fireEvent.click(button("Deselect"));
    expect(cell("1.1").getAttribute("aria-selected")).toBe("false");
    expect(screen.queryByRole("button", { name: "Deselect" })).toBeNull();
  });

  it("opens all by Reset, which there is only where something is changed", async () => {
    await open("/lab?mute=0,1.3:0.5");
    expect(state()).toBe("4 muted, 1 lowered");
    fireEvent.click(button("Reset"));
    expect(inAddress("mute")).toBeNull();
    expect(button("Reset").disabled).toBe(true);
  });

  it("counts the changed heads for which there is no fader", async () => {
    const big = { name: "big", title: "Big", ready: true, n_layers: 4, n_heads: 4, n_kv_heads: 4 };
    playLab({ "GET /api/v1/models": [big] });
    openPage("/lab?mute=0,1,2");
    expect(await screen.findByText("and 3 more changed on the grid")).toBeTruthy();
    expect(faders()).toHaveLength(9);
  });
});

describe("gates to start from", () => {
  it("are what the example suggests, the strongest heads, or as many at random", async () => {
    await open();
    choose(/^Preset/, /Mute 1.3, 0.1, as in this example/);
    expect(inAddress("mute")).toBe("0.1,1.3");
    choose(/^Preset/, /Mute the 3 strongest \(induction\)/);
    expect(inAddress("mute")).toBe("0.1,1.0,1.3");
    choose(/^Preset/, /Mute 3 at random/);
    expect(state()).toMatch(/^3 heads muted/);
    fireEvent.click(button(/^Preset/));
    expect(screen.queryByRole("menuitem", { name: /10 strongest/ })).toBeNull();
  });

  it("at random are none where nothing is changed", async () => {
    await open();
    fireEvent.click(button(/^Preset/));
    expect(
      screen.getByRole<HTMLButtonElement>("menuitem", { name: "The same number at random" }).disabled,
    ).toBe(true);
  });

  it("are those of a finished run, of one seed and a threshold", async () => {
    const preset = {
      name: "needed",
      title: "What it needs",
      reading: "Needed heads.",
      gates: encoded([1, 0, 1, 0, 1, 0, 1, 0], "2, 4"),
      open: 4,
    };
    const other = { ...preset, name: "other", title: "Of another model", gates: encoded([1, 0], "1, 2") };
    const network = await open("/lab", {
      // An analysis that finds no gates has none to offer.
      "GET /api/v1/runs": { runs: [run({ id: "r0", analysis: "eigen" }), run({ seeds: [3, 4] })], total: 2 },
      "GET /api/v1/runs/r1/gates": [preset, other],
    });
    choose(/^Preset/, /From a finished run/);
    const dialog = within(await screen.findByRole("dialog", { name: "Gates from a finished run" }));
    await dialog.findByRole("option", { name: /plural · 2 seeds · 5 Jan 2026/ });
    expect(within(dialog.getByLabelText("Run")).getAllByRole("option")).toHaveLength(1);
    await dialog.findByRole("button", { name: /What it needs/ });
    fireEvent.change(dialog.getByLabelText("Seeds"), { target: { value: "4" } });
    fireEvent.change(dialog.getByLabelText("Role threshold"), { target: { value: "0.7" } });
    // Not a threshold: the last one stays.
    fireEvent.change(dialog.getByLabelText("Role threshold"), { target: { value: "7" } });
    await waitFor(() =>
      expect(Object.fromEntries(network.asked("GET /api/v1/runs/r1/gates").at(-1)?.query ?? [])).toEqual({
        seed: "4",
        threshold: "0.7",
      }),
    );
    const needed = await dialog.findByRole("button", { name: /What it needs/ });
    expect(textOf(needed)).toContain("Needed heads. 4 heads open of 8.");
    expect(dialog.getByRole<HTMLButtonElement>("button", { name: /another model/ }).disabled).toBe(true);
    expect(dialog.getByRole("link", { name: "Find one" }).getAttribute("href")).toBe(
      "/new?analysis=sufficiency&model=tiny&task=plural&param.run=r1",
    );
    fireEvent.click(needed);
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(inAddress("mute")).toBe("0.1,0.3,1.1,1.3");
  });

  it("of runs are told how to be had where there is none", async () => {
    await open();
    choose(/^Preset/, /From a finished run/);
    const link = await screen.findByRole("link", { name: "Start one" });
    expect(link.getAttribute("href")).toBe("/new?model=tiny");
  });

  it("are kept ones: taken up, or deleted", async () => {
    const other = kept({ id: "aa", name: "of another size", n_layers: 5 });
    const network = await open("/lab", {
      "GET /api/v1/gates": [kept(), other],
      "DELETE /api/v1/gates/aa": null,
    });
    choose(/^Preset/, /Saved gates/);
    const dialog = within(await screen.findByRole("dialog", { name: "Saved gates" }));
    await dialog.findByText("no induction");
    const [load, blocked] = dialog.getAllByRole<HTMLButtonElement>("button", { name: "Load" });
    expect(blocked?.disabled).toBe(true);
    expect(blocked?.title).toBe("These gates are for 5 layers of 4 heads.");
    network.answer({ "GET /api/v1/gates": [kept()] });
    fireEvent.click(dialog.getByRole("button", { name: "Delete of another size" }));
    await waitFor(() => expect(dialog.queryByText("of another size")).toBeNull());
    expect(network.asked("DELETE /api/v1/gates/aa")).toHaveLength(1);
    if (load) fireEvent.click(load);
    expect(inAddress("mute")).toBe("1.3");
  });

  it("are read from a file; a fault is said, and another file may follow", async () => {
    const UPLOAD = "POST /api/v1/gates/upload";
    const network = await open("/lab", {
      "GET /api/v1/gates": [],
      [UPLOAD]: problem(422, {
        code: "bad-gates",
        detail: "g.csv, line 3: x is no gate.",
        remedy: "Mend it.",
      }),
    });
    choose(/^Preset/, /Saved gates/);
    const input = await screen.findByLabelText("A file with gates");
    const file = new File(["layer,head,gate"], "g.csv");
    fireEvent.change(input, { target: { files: [file] } });
    expect(textOf(await screen.findByRole("alert"))).toBe("g.csv, line 3: x is no gate.Mend it.");
    network.answer({ [UPLOAD]: kept(), "GET /api/v1/gates": [kept()] });
    fireEvent.change(input, { target: { files: [file] } });
    expect(await screen.findByText("no induction")).toBeTruthy();
    expect(screen.queryByRole("alert")).toBeNull();
    expect(network.asked(UPLOAD)[0]?.body.get("model")).toBe("tiny");
  });

  it("are named as missing where none is kept, and why where they can't be had", async () => {
    const network = await open("/lab", { "GET /api/v1/gates": [] });
    choose(/^Preset/, /Saved gates/);
    expect(await screen.findByText(/No gates of this model are saved yet/)).toBeTruthy();
    fireEvent.click(button("Close"));
    network.answer({
      "GET /api/v1/gates": problem(500, { code: "x", detail: "The disk is full.", remedy: "Make room." }),
    });
    choose(/^Preset/, /Saved gates/);
    const alert = await screen.findByRole("alert");
    expect(textOf(alert)).toContain("The disk is full.Make room.");
    network.answer({ "GET /api/v1/gates": [kept()] });
    fireEvent.click(within(alert).getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("no induction")).toBeTruthy();
  });
});

describe("saving gates", () => {
  it("proposes a name that says which heads, sends all gates, and tells what they are good for", async () => {
    const takesGates = { name: "induction", references: { gates: "gates" }, needs_task: false };
    const network = await open("/lab?mute=1.3,0.1:0.5", {
      "POST /api/v1/gates": kept(),
      "GET /api/v1/analyses": [takesGates],
    });
    fireEvent.click(button("Save gates"));
    const name = screen.getByLabelText<HTMLInputElement>("Name");
    expect(name.value).toBe("0.1, 1.3 changed");
    fireEvent.change(name, { target: { value: "  mine " } });
    fireEvent.click(button("Save"));
    expect(await screen.findByText("Saved as no induction.")).toBeTruthy();
    expect(network.asked("POST /api/v1/gates")[0]?.body).toEqual({
      name: "mine",
      model: "tiny",
      gates: [
        [1, 0.5, 1, 1],
        [1, 1, 1, 0],
      ],
    });
    expect(await screen.findByText("headscope run induction --model tiny --param gates=9f")).toBeTruthy();
    expect(screen.getByText(/headscope.load_gates\("9f"\)/)).toBeTruthy();
    expect(screen.getByRole("link", { name: "safetensors" }).getAttribute("href")).toBe(
      "/api/v1/gates/9f/export?format=safetensors",
    );
    expect(screen.getByRole("link", { name: "Evaluate on tasks" }).getAttribute("href")).toBe(
      "/new?analysis=evaluation&model=tiny&param.gates=9f",
    );
  });

  it("needs a name, and stays open with the reason where it fails", async () => {
    await open("/lab?mute=1.3", {
      "POST /api/v1/gates": problem(422, { code: "x", detail: "Too many.", remedy: "Delete some." }),
    });
    fireEvent.click(button("Save gates"));
    const name = screen.getByLabelText("Name");
    fireEvent.change(name, { target: { value: "  " } });
    expect(button("Save").disabled).toBe(true);
    fireEvent.change(name, { target: { value: "mine" } });
    fireEvent.click(button("Save"));
    expect(textOf(await screen.findByRole("alert"))).toBe("Too many.Delete some.");
    await waitFor(async () => expect((await findButton("Save")).disabled).toBe(false));
  });
});
