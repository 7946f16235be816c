// @vitest-environment jsdom
import { createEvent, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { playLab } from "../../testing/lab";
import { button, findButton, inAddress, openPage, textOf } from "../../testing/page";
import { gates, look, TOKENS } from "../../testing/samples";

const card = () => screen.getByRole("region", { name: "Tokens" });
const flow = () => within(card()).getByRole("region", { name: /^The prompt, 5 tokens/ });
const readout = () => textOf(card().querySelector(".token-readout"));

function span(at: number): HTMLElement {
  const found = flow().querySelector<HTMLElement>(`[data-token="${at}"]`);
  if (!found) throw new Error(`There is no token ${at}.`);
  return found;
}

const share = (at: number, name: string) => span(at).style.getPropertyValue(name);
const marked = (mark: string) => TOKENS.flatMap((_, at) => (span(at).classList.contains(mark) ? [at] : []));

async function open(address = "/lab", routes: Parameters<typeof playLab>[0] = {}) {
  const network = playLab(routes);
  openPage(address);
  await screen.findByRole("region", { name: "Tokens" });
  return network;
}

describe("the tokens", () => {
  it("say how to read them while none is in hand", async () => {
    await open();
    expect(readout()).toMatch(/^Arcs join a token to its earlier occurrences; .* blue ungated; at 10 nats/);
  });

  it("tell their numbers under the pointer, and forget them when it leaves", async () => {
    await open();
    fireEvent.pointerOver(span(4));
    expect(readout()).toBe("Token 4 ·cat (id 12) · loss 0.5 nats (60.7 %) · seen at 2, where ·the came next");
    expect([marked("pointed"), marked("copy"), marked("after-copy")]).toEqual([[4], [2], [3]]);
    fireEvent.pointerOver(span(0));
    expect(readout()).toBe("Token 0 <s>, special (id 0) · nothing predicts the first token");
    fireEvent.pointerLeave(flow());
    expect(readout()).toMatch(/^Arcs join/);
    // A finger scrolls over them.
    fireEvent.pointerOver(span(2), { pointerType: "touch" });
    expect(marked("pointed")).toEqual([]);
  });

  it("are underlined as wide as they surprise, before and under the gates", async () => {
    await open("/lab?mute=1.3");
    expect([share(0, "--before"), share(1, "--before"), share(4, "--before")]).toEqual(["0%", "50%", "5%"]);
    await waitFor(() => expect(share(3, "--after")).toBe("30%"));
    fireEvent.pointerOver(span(3));
    expect(readout()).toContain("loss 1 nats (36.8 %) → 3 nats (4.98 %)");
  });

  it("have no second underline of gates that were asked for another prompt", async () => {
    await open("/lab?mute=1.3", { "POST /api/v1/lab/gates": gates({ tokens: TOKENS.slice(0, 3) }) });
    await screen.findByRole("list", { name: /Most likely next tokens/ });
    expect(flow().className).not.toContain("gated");
  });

  it("are joined by an arc to their copies, the pointed one's stands out", async () => {
    await open();
    const arcs = () => [...flow().querySelectorAll("path")].map((arc) => arc.getAttribute("class"));
    expect(arcs()).toEqual(["arc", "arc"]);
    fireEvent.pointerOver(span(3));
    expect(arcs()).toEqual(["arc on", "arc"]);
  });

  it("are copied as the text itself, with true spaces and no special token", async () => {
    await open();
    const selection = window.getSelection() as Selection;
    const range = document.createRange();
    range.setStartBefore(span(0));
    range.setEndAfter(span(4));
    selection.removeAllRanges();
    selection.addRange(range);
    const copied = new Map<string, string>();
    const event = createEvent.copy(flow());
    Object.assign(event, {
      clipboardData: { setData: (type: string, text: string) => copied.set(type, text) },
    });
    fireEvent(flow(), event);
    expect([...copied]).toEqual([["text/plain", " the cat the cat"]]);
    expect(event.defaultPrevented).toBe(true);
    // What was dragged over is a selection, and holds no token.
    fireEvent.click(span(1));
    expect(inAddress("locked")).toBeNull();
    selection.removeAllRanges();
  });
});

describe("held tokens", () => {
  it("are in the address, added and taken out by a click, in the prompt's order", async () => {
    await open();
    fireEvent.click(span(4));
    fireEvent.click(span(1));
    expect(inAddress("locked")).toBe("1,4");
    expect(marked("locked")).toEqual([1, 4]);
    fireEvent.click(span(4));
    expect(inAddress("locked")).toBe("1");
    fireEvent.click(button("Unpin it"));
    expect(inAddress("locked")).toBeNull();
  });

  it("show, summed, where they look through the selected head and who looks at them", async () => {
    await open("/lab?head=1.3&locked=3,4");
    expect(readout()).toMatch(
      /Through 1\.3 these 2 tokens \(sum\) look at ·cat \(2\) 79\.9 %, ·the \(3\) 79\.9 %, <s> \(0\) 40\.\d %; looked at by ·cat \(4\) 79\.9 %/,
    );
    // The first token is out of the scale: the rest is as wide as the strongest of it.
    expect([share(2, "--looked"), share(3, "--looked")]).toEqual(["100%", "100%"]);
    expect(marked("left-out")).toEqual([0]);
  });

  it("are all let go by Escape", async () => {
    await open("/lab?locked=1,2,4");
    expect(button("Unpin all 3")).toBeTruthy();
    fireEvent.keyDown(flow(), { key: "Escape" });
    expect(inAddress("locked")).toBeNull();
  });

  it("of another prompt, beyond this one's end, are left out", async () => {
    await open("/lab?locked=2,90");
    expect(marked("locked")).toEqual([2]);
    expect(button("Unpin it")).toBeTruthy();
  });

  it("are where the next token is read, the last one's being the default", async () => {
    const network = await open("/lab?locked=2");
    fireEvent.click(button("Read the next token after 2"));
    expect(inAddress("at")).toBe("2");
    await waitFor(() => expect(network.asked("POST /api/v1/lab/gates").at(-1)?.body.at).toBe(2));
    fireEvent.click(span(4));
    fireEvent.click(button("Read the next token after 4"));
    expect(inAddress("at")).toBeNull();
  });
});

describe("facts of the prompt", () => {
  const facts = () => textOf(document.querySelector(".lab-facts"));

  it("count tokens and repeats, and how surprising they are", async () => {
    await open();
    expect(facts()).toContain("5 tokens");
    expect(facts()).toContain("2 of them repeat an earlier one, exactly");
    expect(facts()).toContain("loss 3.75 nats on new tokens, 0.5 on repeats");
  });

  it("are switches: without the BOS token, and whatever their case", async () => {
    const network = await open();
    fireEvent.click(button("leave it out"));
    expect(inAddress("bos")).toBe("0");
    fireEvent.click(await findButton("ignore case and spaces"));
    expect(inAddress("fold")).toBe("1");
    await waitFor(() =>
      expect(network.asked("POST /api/v1/lab/look").at(-1)?.body).toMatchObject({ bos: false, fold: true }),
    );
    expect(facts()).toContain("whatever their case and spaces");
  });

  it("say where a BOS token was asked for in vain, and where the text spells its name", async () => {
    await open("/lab?bos=1", { "POST /api/v1/lab/look": look({ bos: "none", loss_first: null }) });
    expect(facts()).toContain("no BOS token: this model’s tokenizer has none");
    expect(facts()).not.toContain("loss");
    expect(screen.queryByRole("button", { name: "put one first" })).toBeNull();
  });

  it.each([
    ["in-text" as const, "the text spells the BOS token’s name, read as plain characters", "put one first"],
    ["doubled" as const, "BOS token added, and the text spells its name once more", "leave it out"],
  ])("tell a BOS token from its name: %s", async (bos, says, offers) => {
    await open("/lab?bos=0", { "POST /api/v1/lab/look": look({ bos }) });
    expect(facts()).toContain(says);
    expect(button(offers)).toBeTruthy();
  });
});
