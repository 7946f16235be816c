// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { playLab } from "../../testing/lab";
import { later, problem } from "../../testing/network";
import { button, here, inAddress, openPage, textOf } from "../../testing/page";
import { EXAMPLE, prompt, run, TOKENS, token } from "../../testing/samples";

const TOKENIZE = "POST /api/v1/prompts/tokenize";
const KEEP = "POST /api/v1/prompts";
const UPLOAD = "POST /api/v1/prompts/upload";
const LOOK = "POST /api/v1/lab/look";

const tokenized = { tokens: TOKENS.slice(0, 3), n_ctx: 64, bos: "added" };
const batch = prompt({ id: "b1", kind: "batch", n: 3, name: "three.csv" });
const stored = { "GET /api/v1/prompts/p1": prompt(), "GET /api/v1/prompts/b1": batch };

const area = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Your prompt" });
const type = (value: string) => fireEvent.change(area(), { target: { value } });
const lookAt = () => button("Analyse");

async function open(address = "/lab", routes: Parameters<typeof playLab>[0] = {}) {
  const network = playLab({ [TOKENIZE]: tokenized, ...stored, ...routes });
  openPage(address);
  await screen.findByRole("region", { name: "Tokens" });
  return network;
}

async function edit(routes: Parameters<typeof playLab>[0] = {}, address = "/lab") {
  const network = await open(address, routes);
  fireEvent.click(button("Write a prompt"));
  return network;
}

describe("writing a prompt", () => {
  it("starts from the one that is shown, marked to be typed over", async () => {
    await edit();
    expect(area().value).toBe(EXAMPLE.text);
    expect(document.activeElement).toBe(area());
    expect(area().selectionEnd).toBe(EXAMPLE.text.length);
  });

  it("shows its tokens as it is typed, and keeps it to look at", async () => {
    const network = await edit({ [KEEP]: prompt() });
    type(" the cat");
    const said = await screen.findByText(/^3 tokens · BOS token added · the model’s context is 64$/);
    expect(textOf(said.nextElementSibling)).toBe("<s>·the·cat");
    expect(network.asked(TOKENIZE).at(-1)?.body).toEqual({ model: "tiny", text: " the cat", bos: true });
    fireEvent.click(lookAt());
    await waitFor(() => expect(inAddress("prompt")).toBe("p1"));
    expect(network.asked(KEEP)[0]?.body).toMatchObject({ text: " the cat" });
    await waitFor(() => expect(network.asked(LOOK).at(-1)?.body).toMatchObject({ prompt: "p1", row: 0 }));
    expect(screen.queryByRole("textbox", { name: "Your prompt" })).toBeNull();
    // The text itself never is in the address.
    expect(here()).not.toContain("cat");
  });

  it("looks by Ctrl and Enter; a built-in prompt isn't kept again", async () => {
    const network = await edit({}, "/lab?prompt=p1");
    type(EXAMPLE.text);
    fireEvent.keyDown(area(), { key: "Enter", ctrlKey: true });
    await waitFor(() => expect(here()).toBe("/lab?example=cats"));
    expect(network.asked(KEEP)).toHaveLength(0);
  });

  it("is left by Escape or Cancel, with the prompt as it was", async () => {
    await edit();
    type("other");
    fireEvent.keyDown(area(), { key: "Escape" });
    expect(screen.getByRole("region", { name: "Tokens" })).toBeTruthy();
    fireEvent.click(button("Write a prompt"));
    expect(area().value).toBe(EXAMPLE.text);
    fireEvent.click(button("Cancel"));
    expect(screen.queryByRole("textbox", { name: "Your prompt" })).toBeNull();
  });

  it("says by how much it is too long, and doesn't look", async () => {
    await edit({ [TOKENIZE]: { ...tokenized, n_ctx: 2 } });
    type("long");
    expect(await screen.findByText(/1 token too many: shorten the text/)).toBeTruthy();
    expect(lookAt().disabled).toBe(true);
  });

  it("shows the beginning of a long text's tokens", async () => {
    const many = Array.from({ length: 310 }, (_, i) => token(i, `w${i}`));
    await edit({ [TOKENIZE]: { tokens: many, n_ctx: 1024, bos: "none" } });
    type("long");
    expect(await screen.findByText("… and 10 more tokens")).toBeTruthy();
    expect(screen.queryByText("w305")).toBeNull();
  });

  it("says what keeps a text from being a prompt, and sends none of it", async () => {
    const network = await edit();
    await waitFor(() => expect(network.asked(TOKENIZE)).toHaveLength(1));
    type("ab\ud83d");
    expect(textOf(screen.getByRole("alert"))).toMatch(/^Character 3 is a lone surrogate/);
    expect(lookAt().disabled).toBe(true);
    type("");
    expect(screen.getByText("No token yet.")).toBeTruthy();
    expect(lookAt().disabled).toBe(true);
    fireEvent.keyDown(area(), { key: "Enter", metaKey: true });
    expect(network.asked(TOKENIZE)).toHaveLength(1);
    expect(network.asked(KEEP)).toHaveLength(0);
  });

  it("says why its tokens can't be had, or why it can't be kept", async () => {
    const network = await edit({
      [TOKENIZE]: problem(500, { code: "x", detail: "No tokenizer.", remedy: "Fetch it." }),
    });
    type("x");
    expect(textOf(await screen.findByRole("alert"))).toBe("No tokenizer.Fetch it.");
    expect(lookAt().disabled).toBe(true);
    network.answer({
      [TOKENIZE]: tokenized,
      [KEEP]: problem(507, { code: "y", detail: "The disk is full.", remedy: "Make room." }),
    });
    type("xy");
    await screen.findByText(/^3 tokens/);
    fireEvent.click(lookAt());
    expect(textOf(await screen.findByRole("alert"))).toBe("The disk is full.Make room.");
    expect(area().value).toBe("xy");
    expect(lookAt().disabled).toBe(false);
  });

  it("is what an empty lab begins with", async () => {
    playLab({ "GET /api/v1/prompts/examples": [] });
    openPage("/lab");
    expect(await screen.findByRole("textbox", { name: "Your prompt" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Cancel" })).toBeNull();
  });
});

describe("other prompts", () => {
  it("are built in: what belonged to the last one goes", async () => {
    await open("/lab?prompt=p1&at=1&locked=2&answers=9&bos=0&head=1.3");
    fireEvent.click(button("Examples"));
    fireEvent.click(screen.getByRole("menuitem", { name: "Cats" }));
    expect(here()).toBe("/lab?example=cats&head=1.3");
  });

  it("are a file's, chosen or dropped", async () => {
    const reading = later();
    const network = await open("/lab", { [UPLOAD]: reading.answer });
    const file = new File(["one\ntwo"], "two.txt", { type: "text/plain" });
    fireEvent.change(screen.getByLabelText("A file with prompts"), { target: { files: [file] } });
    expect((await screen.findByRole<HTMLButtonElement>("button", { name: "Reading…" })).disabled).toBe(true);
    reading.give(batch);
    await waitFor(() => expect(inAddress("prompt")).toBe("b1"));
    expect([...(network.asked(UPLOAD)[0]?.body.keys() ?? [])]).toEqual(["file"]);

    network.answer({ [UPLOAD]: prompt() });
    const zone = (await screen.findByRole("region", { name: "Tokens" })).parentElement as HTMLElement;
    const dataTransfer = { types: ["Files"], files: [file] };
    fireEvent.dragOver(zone, { dataTransfer });
    expect(zone.className).toContain("over");
    fireEvent.drop(zone, { dataTransfer });
    expect(zone.className).not.toContain("over");
    await waitFor(() => expect(inAddress("prompt")).toBe("p1"));
    await screen.findByRole("button", { name: "File or batch" });
  });

  it("can't be had from a file that isn't one of prompts: why is said", async () => {
    await open("/lab", {
      [UPLOAD]: problem(422, { code: "x", detail: "Row 3 has no text.", remedy: "Name a column `text`." }),
    });
    const file = new File(["x"], "x.csv");
    fireEvent.change(screen.getByLabelText("A file with prompts"), { target: { files: [file] } });
    const alert = await screen.findByRole("alert");
    expect(textOf(alert)).toBe("Row 3 has no text.Name a column text.");
    expect(button("File or batch").disabled).toBe(false);
  });

  it("that nobody kept are said so, once", async () => {
    playLab({
      "GET /api/v1/prompts/gone": problem(404, { code: "x", detail: "There is no prompt gone.", remedy: "" }),
    });
    openPage("/lab?prompt=gone");
    expect(await screen.findByText("There is no prompt gone.")).toBeTruthy();
    expect(screen.getAllByRole("alert")).toHaveLength(1);
    expect(screen.queryByRole("region", { name: "All heads" })).toBeNull();
  });
});

describe("kept prompts", () => {
  const LIST = "GET /api/v1/prompts";
  const nameless = prompt({ id: "p2", beginning: "", characters: 3 });

  async function openKept(routes: Parameters<typeof playLab>[0], address = "/lab") {
    const network = await open(address, routes);
    fireEvent.click(button("Saved prompts"));
    return { network, dialog: within(await screen.findByRole("dialog", { name: "Saved prompts" })) };
  }

  it("are listed with what they are, and opened", async () => {
    const { dialog } = await openKept({ [LIST]: [batch, prompt(), nameless] });
    await dialog.findByText("three.csv");
    expect(dialog.getAllByRole("listitem").map(textOf)).toEqual([
      expect.stringMatching(/^three\.csv3 prompts · 8 characters · 5 Jan 2026/),
      expect.stringMatching(/^the cat8 characters/),
      expect.stringMatching(/^\(only spaces\)3 characters/),
    ]);
    fireEvent.click(dialog.getByText("the cat"));
    expect(inAddress("prompt")).toBe("p1");
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("are deleted for good after a second thought; the one that is shown leaves the page too", async () => {
    const { network, dialog } = await openKept(
      { [LIST]: [prompt()], "DELETE /api/v1/prompts/p1": null },
      "/lab?prompt=p1&row=0",
    );
    fireEvent.click(await dialog.findByRole("button", { name: "Delete the cat" }));
    fireEvent.click(dialog.getByRole("button", { name: "Keep it" }));
    expect(network.asked("DELETE /api/v1/prompts/p1")).toHaveLength(0);
    network.answer({ [LIST]: [] });
    fireEvent.click(dialog.getByRole("button", { name: "Delete the cat" }));
    fireEvent.click(dialog.getByRole("button", { name: "Delete for good" }));
    expect(await dialog.findByText(/None yet/)).toBeTruthy();
    expect(inAddress("prompt")).toBeNull();
  });

  it("stay where they can't be deleted, with the reason", async () => {
    const { dialog } = await openKept({
      [LIST]: [prompt()],
      "DELETE /api/v1/prompts/p1": problem(409, { code: "x", detail: "A run uses it.", remedy: "" }),
    });
    fireEvent.click(await dialog.findByRole("button", { name: "Delete the cat" }));
    fireEvent.click(dialog.getByRole("button", { name: "Delete for good" }));
    expect(await dialog.findByText("A run uses it.")).toBeTruthy();
    expect(dialog.getByText("the cat")).toBeTruthy();
  });

  it("load, and can't be had without a reason", async () => {
    const slow = later();
    const { dialog } = await openKept({ [LIST]: slow.answer });
    expect(dialog.getByRole("status", { name: "Loading the prompts" })).toBeTruthy();
    slow.give(problem(500, { code: "x", detail: "No table.", remedy: "" })());
    expect(textOf(await dialog.findByRole("alert"))).toBe("No table.Try again");
  });
});

describe("a batch", () => {
  const RUNS = "POST /api/v1/runs";
  const place = () => screen.getByRole<HTMLInputElement>("spinbutton", { name: /^Prompt/ });

  it("is paged through, within its bounds", async () => {
    const network = await open("/lab?prompt=b1&row=1&locked=2&at=1");
    expect(place().value).toBe("2");
    fireEvent.click(button("Next →"));
    expect(here()).toBe("/lab?prompt=b1&row=2");
    await waitFor(() => expect(network.asked(LOOK).at(-1)?.body).toMatchObject({ prompt: "b1", row: 2 }));
    await screen.findByText("three.csv");
    expect(button("Next →").disabled).toBe(true);
    fireEvent.change(place(), { target: { value: "99" } });
    expect(inAddress("row")).toBe("2");
    fireEvent.change(place(), { target: { value: "1" } });
    expect(inAddress("row")).toBeNull();
    await screen.findByText("three.csv");
    expect(button("← Previous").disabled).toBe(true);
  });

  it("is scored whole by a run, or says why not", async () => {
    const network = await open("/lab?prompt=b1", {
      [RUNS]: problem(409, { code: "x", detail: "The queue is full.", remedy: "Wait." }),
    });
    fireEvent.click(button("Score the whole batch"));
    expect(textOf(await screen.findByRole("alert"))).toBe("The queue is full.Wait.");
    network.answer({
      [RUNS]: run({ id: "new", status: "cancelled" }),
      "GET /api/v1/runs/new": problem(404, { code: "x", detail: "Gone.", remedy: "" }),
      "GET /api/v1/analyses": [],
    });
    fireEvent.click(button("Score the whole batch"));
    await waitFor(() => expect(here()).toBe("/runs/new"));
    expect(network.asked(RUNS)[1]?.body).toMatchObject({
      analysis: "battery",
      model: "tiny",
      params: { prompts: "b1" },
    });
  });
});
