// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { playLab } from "../../testing/lab";
import { later, problem } from "../../testing/network";
import { inAddress, openPage, textOf } from "../../testing/page";
import { gates, token } from "../../testing/samples";

const GATES = "POST /api/v1/lab/gates";
const TOKENIZE = "POST /api/v1/prompts/tokenize";
const tokenized = (...texts: string[]) => ({
  tokens: texts.map((text, i) => token(30 + i, text)),
  n_ctx: 64,
  bos: "none",
});

const card = () => within(screen.getByRole("region", { name: "Next token" }));
const rows = () => within(card().getByRole("list")).getAllByRole("listitem").map(textOf);
const widths = () =>
  [...card().getByRole("list").querySelectorAll<HTMLElement>(".next-bars i")].map(({ style }) =>
    style.getPropertyValue("--size"),
  );

async function open(address = "/lab", routes: Parameters<typeof playLab>[0] = {}) {
  const network = playLab(routes);
  openPage(address);
  await screen.findByRole("list", { name: "Most likely next tokens, before and after" });
  return network;
}

describe("the next token", () => {
  it("is told as it is, alone, while no gate is changed", async () => {
    await open("/lab", { [GATES]: gates({ kl: 1e-7 }) });
    expect(rows()).toEqual(["·sat50.0 %", "·ran25.0 %"]);
    expect(widths()).toEqual(["100%", "50%"]);
    expect(card().getByText("KL 0 nats: nothing changes")).toBeTruthy();
  });

  it("is told before and under the gates, on one scale, with how far the two are apart", async () => {
    await open("/lab?mute=1.3");
    await waitFor(() => expect(rows()).toEqual(["·sat50.0 → 10.0 %", "·ran25.0 → 40.0 %"]));
    expect(widths()).toEqual(["100%", "20%", "50%", "80%"]);
    expect(card().getByText("KL(ungated ‖ gated) 0.25 nats")).toBeTruthy();
  });

  it("loads, and stays while newer gates are asked", async () => {
    const first = later();
    const network = playLab({ [GATES]: first.answer });
    openPage("/lab");
    await card_();
    expect(await screen.findByRole("status", { name: "Loading the next tokens" })).toBeTruthy();
    first.give(gates());
    await screen.findByRole("list", { name: /Most likely/ });
    const second = later();
    network.answer({ [GATES]: second.answer });
    fireEvent.click(await screen.findByRole("button", { name: "Mute layer 0, head 0" }));
    const list = card().getByRole("list");
    await waitFor(() => expect(list.parentElement?.className).toBe("answered late"));
    expect(list.parentElement?.getAttribute("aria-busy")).toBe("true");
    second.give(gates({ kl: 2 }));
    expect(await card().findByText(/gated\) 2 nats/)).toBeTruthy();
    await waitFor(() => expect(list.parentElement?.className).toBe("answered"));
  });

  it("says why it can't be had, what to do, and asks again", async () => {
    const network = playLab({
      [GATES]: problem(409, { code: "x", detail: "Too long.", remedy: "Cut it." }),
    });
    openPage("/lab");
    const alert = within(await card_()).findByRole("alert");
    expect(textOf(await alert)).toBe("Too long.Cut it.Try again");
    network.answer({ [GATES]: gates() });
    fireEvent.click(within(await alert).getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("list", { name: /Most likely/ })).toBeTruthy();
    expect(within(await card_()).queryByRole("alert")).toBeNull();
  });
});

/** The card once it is there. */
function card_() {
  return screen.findByRole("region", { name: "Next token" });
}

describe("another position", () => {
  it("is read with what really comes there, and the last one again by a click", async () => {
    const network = await open("/lab?at=2&mute=1.3", { [GATES]: gates({ at: 2 }) });
    const where = await card().findByText(/^After token 2/);
    expect(textOf(where)).toMatch(/After token 2 ·cat the text has ·the: 36\.8 → 5\.0 %/);
    fireEvent.click(within(where).getByRole("button", { name: "read at the last token" }));
    expect(inAddress("at")).toBeNull();
    await waitFor(() => expect(network.asked(GATES).at(-1)?.body.at).toBeNull());
  });
});

describe("followed tokens", () => {
  const followed = gates({
    answers: [
      { token: token(20, " sat"), before: -0.69, after: -2.3, rank_before: 0, rank_after: 4 },
      { token: token(21, " ran"), before: -1.39, after: -0.92, rank_before: 1, rank_after: 0 },
    ],
    logit_difference: { before: 1.5, after: -2 },
  });

  it("are chosen among the likeliest; of a third the first gives way", async () => {
    const network = await open("/lab?answers=5");
    fireEvent.click(card().getByRole("button", { name: "Follow ·sat" }));
    expect(inAddress("answers")).toBe("5,20");
    await waitFor(() => expect(network.asked(GATES).at(-1)?.body.answers).toEqual([5, 20]));
    fireEvent.click(await card().findByRole("button", { name: "Follow ·ran" }));
    expect(inAddress("answers")).toBe("20,21");
  });

  it("have their log-probability and rank before and after, and of two the difference of their logits", async () => {
    await open("/lab?answers=20,21&mute=1.3", { [GATES]: followed });
    const table = within(card().getByRole("table", { name: "Followed tokens, before and after" }));
    expect(table.getAllByRole("row").slice(1).map(textOf)).toEqual([
      "·sat−0.69 → −2.31 → 5×",
      "·ran−1.39 → −0.922 → 1×",
      "logit difference1.5 → −2 (−3.5)",
    ]);
    expect(card().getByRole("button", { name: "Follow ·sat" }).getAttribute("aria-pressed")).toBe("true");
    fireEvent.click(table.getByRole("button", { name: "Stop following ·sat" }));
    expect(inAddress("answers")).toBe("21");
  });

  it("are typed, a leading space counts", async () => {
    const network = await open("/lab", { [TOKENIZE]: tokenized(" dog") });
    const field = card().getByLabelText<HTMLInputElement>(
      "Follow a token, or two to see the difference of their logits",
    );
    expect(card().getByRole<HTMLButtonElement>("button", { name: "Follow" }).disabled).toBe(true);
    fireEvent.change(field, { target: { value: " dog" } });
    fireEvent.click(card().getByRole("button", { name: "Follow" }));
    await waitFor(() => expect(inAddress("answers")).toBe("30"));
    expect(network.asked(TOKENIZE)[0]?.body).toEqual({ model: "tiny", text: " dog", bos: false });
    await waitFor(() =>
      expect(card().getByLabelText<HTMLInputElement>("Against another token").value).toBe(""),
    );
  });

  it("are a part of what was typed where that is several tokens", async () => {
    await open("/lab", { [TOKENIZE]: tokenized("un", "believ", "able") });
    fireEvent.change(card().getByRole("textbox"), { target: { value: "unbelievable" } });
    fireEvent.click(card().getByRole("button", { name: "Follow" }));
    const said = within(await card().findByRole("status"));
    expect(said.getByText(/That is 3 tokens; an answer is a single one/)).toBeTruthy();
    fireEvent.click(said.getByRole("button", { name: "believ" }));
    expect(inAddress("answers")).toBe("31");
    expect(card().queryByText(/That is 3 tokens/)).toBeNull();
  });

  it("say where what was typed is no token, or can't be split", async () => {
    const network = await open("/lab", { [TOKENIZE]: tokenized() });
    const follow = () => fireEvent.click(card().getByRole("button", { name: "Follow" }));
    fireEvent.change(card().getByRole("textbox"), { target: { value: "\u200b" } });
    follow();
    expect(await card().findByText("That isn’t a token.")).toBeTruthy();
    network.answer({
      [TOKENIZE]: problem(422, { code: "x", detail: "Half a character.", remedy: "Delete it." }),
    });
    follow();
    expect(textOf(await card().findByRole("alert"))).toBe("Half a character.Delete it.");
    expect(card().queryByText("That isn’t a token.")).toBeNull();
  });
});
