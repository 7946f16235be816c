// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { playLab } from "../../testing/lab";
import { later, problem } from "../../testing/network";
import { openPage, textOf } from "../../testing/page";
import { token } from "../../testing/samples";

const CONTINUE = "POST /api/v1/lab/continue";
const written = {
  model: "tiny",
  before: [token(20, " sat"), token(22, " down")],
  after: [token(21, " ran")],
  note: "",
};

const card = () => within(screen.getByRole("region", { name: "Continuation" }));
const write = () => fireEvent.click(card().getByRole("button", { name: /^Generate/ }));
const texts = () => [...document.querySelectorAll(".written")].map(textOf);

async function open(address = "/lab", routes: Parameters<typeof playLab>[0] = {}) {
  const network = playLab({ [CONTINUE]: written, ...routes });
  openPage(address);
  await waitFor(() =>
    expect(card().getByRole<HTMLButtonElement>("button", { name: "Generate" }).disabled).toBe(false),
  );
  return network;
}

describe("what the model writes on", () => {
  it("is asked by a click only, and told once where no gate is changed", async () => {
    const slow = later();
    const network = await open("/lab", { [CONTINUE]: slow.answer });
    expect(network.asked(CONTINUE)).toHaveLength(0);
    write();
    expect(await card().findByRole("status", { name: "Generating" })).toBeTruthy();
    slow.give(written);
    await waitFor(() => expect(texts()).toEqual(["ungated·sat·down"]));
    expect(network.asked(CONTINUE)[0]?.body).toMatchObject({ n_tokens: 20, temperature: 0, seed: 0 });
  });

  it("is told twice under gates; those that were changed since are told from those of then", async () => {
    const network = await open("/lab?mute=1.3");
    write();
    await waitFor(() => expect(texts()).toEqual(["ungated·sat·down", "1 head muted·ran"]));
    fireEvent.click(screen.getByRole("button", { name: "Mute layer 0, head 0" }));
    expect(texts()).toEqual(["ungated·sat·down", "earlier gates·ran"]);
    fireEvent.click(card().getByRole("button", { name: "Generate again" }));
    await waitFor(() => expect(texts()[1]).toBe("2 heads muted·ran"));
    expect(network.asked(CONTINUE)).toHaveLength(2);
  });

  it("is asked on every change where that is wanted", async () => {
    const network = await open();
    fireEvent.click(card().getByLabelText("on every change"));
    await waitFor(() => expect(network.asked(CONTINUE)).toHaveLength(1));
    fireEvent.click(screen.getByRole("button", { name: "Mute layer 0, head 0" }));
    await waitFor(() => expect(network.asked(CONTINUE)).toHaveLength(2));
    expect(network.asked(CONTINUE)[1]?.body.gates).toEqual([
      [0, 1, 1, 1],
      [1, 1, 1, 1],
    ]);
  });

  it("is drawn by temperature and seed where it is sampled; what is out of range isn't taken", async () => {
    const network = await open();
    expect(card().queryByLabelText("temperature")).toBeNull();
    fireEvent.click(card().getByLabelText("sampled"));
    const type = (name: string, value: string) =>
      fireEvent.change(card().getByLabelText(name), { target: { value } });
    type("temperature", "1.5");
    type("temperature", "9");
    type("seed", "7");
    type("tokens", "3");
    type("tokens", "101");
    type("tokens", "");
    write();
    await waitFor(() => expect(network.asked(CONTINUE)).toHaveLength(1));
    expect(network.asked(CONTINUE)[0]?.body).toMatchObject({ n_tokens: 3, temperature: 1.5, seed: 7 });
  });

  it("is nothing where the text ends, and says what was left out of it", async () => {
    await open("/lab?mute=1.3", { [CONTINUE]: { ...written, after: [], note: "It stopped at 64 tokens." } });
    write();
    await waitFor(() => expect(texts()[1]).toBe("1 head mutednothing: the model ends the text here"));
    expect(card().getByText("It stopped at 64 tokens.")).toBeTruthy();
  });

  it("says why it can't be had, and tries again", async () => {
    const network = await open("/lab", {
      [CONTINUE]: problem(422, { code: "x", detail: "No room for 20 more.", remedy: "Ask for fewer." }),
    });
    write();
    const alert = within(await card().findByRole("alert"));
    expect(alert.getByText("Ask for fewer.")).toBeTruthy();
    network.answer({ [CONTINUE]: written });
    fireEvent.click(alert.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(texts()).toEqual(["ungated·sat·down"]));
    expect(card().queryByRole("alert")).toBeNull();
  });
});
