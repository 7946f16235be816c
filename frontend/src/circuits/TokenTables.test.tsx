// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { AT, BAY, IN, KEEP, MIND, playCircuits, tables } from "../testing/circuits";
import type { Asked } from "../testing/network";
import { problem } from "../testing/network";
import { button, here, inAddress, openPage, textOf } from "../testing/page";
import { token } from "../testing/samples";

vi.mock("plotly.js-cartesian-dist-min", () => import("../testing/plotly"));

const TABLES = "POST /api/v1/circuits/tables";
const FIND = "POST /api/v1/circuits/tokens";
const CROSSED = "POST /api/v1/circuits/crossed";
const VIRTUAL = "POST /api/v1/circuits/virtual";

const found = (spelled: unknown[], containing: unknown[] = [], n_containing = containing.length) => ({
  model: "tiny",
  spelled,
  containing,
  n_containing,
});

const table = (title: RegExp) => within(screen.getByRole("region", { name: title }));
const rows = (within_: ReturnType<typeof table>) =>
  within_.getAllByRole("row").map((row) => [...row.children].map(textOf));

async function open(routes: Parameters<typeof playCircuits>[0] = {}, more = "") {
  const network = playCircuits(routes);
  openPage(`/circuits?model=tiny&head=1.3&tab=head${more}`);
  await screen.findByRole("region", { name: "Token tables" });
  return network;
}

describe("the tables of a head", () => {
  it("have the strongest cells of a small vocabulary at once, what lowers marked apart", async () => {
    const network = await open();
    const writes = table(/^What it writes/);
    await writes.findByText("The strongest cells of the whole table");
    expect(rows(writes)).toEqual([
      ["source", "output", "value"],
      ["·keep", "·keep", "4.00"],
      ["·keep", "·mind", "−2.00"],
    ]);
    const bars = [...document.querySelectorAll<HTMLElement>(".cell-bar i")].slice(0, 2);
    expect(bars.map(({ className, style }) => [className, style.width])).toEqual([
      ["", "100%"],
      ["below", "50%"],
    ]);
    expect(writes.getByText(/Values: logits\. The strongest of 100 tokens\./)).toBeTruthy();
    await table(/^Where it looks/).findByText("The strongest cells of the whole table");
    expect(network.asked(TABLES).map(({ body }) => [body.circuit, body.layer, body.head])).toEqual([
      ["ov", 1, 3],
      ["qk", 1, 3],
    ]);
    expect(network.asked(TABLES)[0]?.body.weight_processing).toBe("folded");
  });

  it("of a large vocabulary are asked for by a click", async () => {
    const network = playCircuits();
    openPage("/circuits?model=org/large&head=0.3&tab=head");
    const [find] = await screen.findAllByRole("button", { name: "Find the strongest cells of all" });
    expect(network.asked(TABLES)).toHaveLength(0);
    if (find) fireEvent.click(find);
    expect(await table(/^What it writes/).findByRole("table")).toBeTruthy();
    expect(network.asked(TABLES)).toHaveLength(1);
  });

  it("show a token's own cells by a click on it, and all again", async () => {
    const own = ({ body }: Asked) =>
      tables(String(body.circuit) === "qk" ? "qk" : "ov", {
        token: typeof body.token === "number" ? MIND : null,
        column: [{ row: KEEP, column: MIND, value: 3 }],
      });
    const network = await open({ [TABLES]: own });
    const writes = table(/^What it writes/);
    fireEvent.click(await writes.findByRole("button", { name: "Token ·mind: show its cells" }));
    expect(inAddress("token")).toBe("41");
    await writes.findByText("Looking at it raises: ·mind");
    expect(writes.getByText("It is raised by looking at: ·mind")).toBeTruthy();
    await table(/^Where it looks/).findByText("Who looks at it: ·mind");
    expect(network.asked(TABLES).at(-1)?.body.token).toBe(41);
    fireEvent.click(button("Strongest over all tokens"));
    expect(inAddress("token")).toBeNull();
  });

  it("say why they can't be had; a worker that loads the model is asked again", async () => {
    const network = await open({
      [TABLES]: problem(500, { code: "x", detail: "Not enough memory.", remedy: "Free some." }),
    });
    const writes = table(/^What it writes/);
    const alert = within(await writes.findByRole("alert"));
    expect(alert.getByText("Free some.")).toBeTruthy();
    network.answer({ [TABLES]: tables("ov") });
    fireEvent.click(alert.getByRole("button", { name: "Try again" }));
    expect(await writes.findByRole("table")).toBeTruthy();
  });
});

describe("finding a token", () => {
  const field = () => screen.getByLabelText<HTMLInputElement>("Show the cells of a token");
  const options = () =>
    within(screen.getAllByRole("list", { name: "Tokens found" })[0] as HTMLElement)
      .queryAllByRole("button")
      .map(textOf);

  it("is by its text, where a dot in front is a space; each token is offered once", async () => {
    const network = await open({ [FIND]: found([KEEP], [KEEP, token(45, " keeper")], 12) });
    fireEvent.change(field(), { target: { value: "·keep" } });
    await waitFor(() => expect(options()).toEqual(["·keep", "·keeper"]));
    expect(network.asked(FIND).map(({ body }) => body.text)).toEqual([" keep"]);
    expect(screen.getByText(/^12 tokens contain it/)).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Token ·keeper" }));
    expect(inAddress("token")).toBe("45");
    expect(field().value).toBe("");
  });

  it("takes the first by Enter", async () => {
    await open({ [FIND]: found([KEEP]) });
    fireEvent.change(field(), { target: { value: " keep" } });
    await waitFor(() => expect(options()).toEqual(["·keep"]));
    fireEvent.submit(field());
    expect(inAddress("token")).toBe("40");
  });

  it("finds none, and says so", async () => {
    await open({ [FIND]: found([]) });
    fireEvent.change(field(), { target: { value: "xyzzy" } });
    expect(await screen.findByText("No token contains this.")).toBeTruthy();
    fireEvent.submit(field());
    expect(inAddress("token")).toBeNull();
  });
});

describe("pairs that the head can't keep apart", () => {
  const trigram = (destination: typeof IN, output: typeof IN, score: number) => ({
    destination,
    output,
    q: 1.5,
    o: 2,
    score,
  });
  const pairs = {
    source: KEEP,
    intended: [trigram(IN, MIND, 3.5), trigram(AT, BAY, 3)],
    crossed: [trigram(IN, BAY, 2.5), trigram(AT, MIND, 2)],
    margin: 2,
  };
  const crossed = () => within(screen.getByRole("region", { name: "Crossed pairs" }));

  it("are found by a click: what is meant, and what must be raised with it", async () => {
    const network = await open({ [CROSSED]: { found: [pairs], chosen: false, limits: [] } });
    fireEvent.click(button("Find the worst pairs"));
    await crossed().findByRole("table");
    expect(rows(crossed()).slice(1)).toEqual([
      ["meant", "·keep … ·in → ·mind", "1.50", "2.00", "3.50"],
      ["meant", "·keep … ·at → ·bay", "1.50", "2.00", "3.00"],
      ["crossed", "·keep … ·in → ·bay", "1.50", "2.00", "2.50"],
      ["crossed", "·keep … ·at → ·mind", "1.50", "2.00", "2.00"],
    ]);
    expect(network.asked(CROSSED)[0]?.body).toMatchObject({ model: "tiny", layer: 1, head: 3 });
  });

  it("are none, or can't be had", async () => {
    const network = await open({ [CROSSED]: { found: [], chosen: false, limits: [] } });
    fireEvent.click(button("Find the worst pairs"));
    expect(await crossed().findByText("No two skip trigrams of this head have strong crosses.")).toBeTruthy();
    network.answer({ [CROSSED]: problem(500, { code: "x", detail: "Broken.", remedy: "" }) });
    fireEvent.click(button("Find the worst pairs"));
    expect(textOf(await crossed().findByRole("alert"))).toBe("Broken.");
    expect(button("Find the worst pairs").disabled).toBe(false);
  });

  it("are the reader's own once all five tokens are chosen", async () => {
    const byText = new Map([KEEP, IN, MIND, AT, BAY].map((one) => [one.text, one]));
    const network = await open({
      [FIND]: ({ body }: Asked) => found([byText.get(String(body.text))]),
      [CROSSED]: { found: [pairs], chosen: true, limits: [] },
    });
    const compute = () => crossed().getByRole<HTMLButtonElement>("button", { name: "Compute", hidden: true });
    const slots = crossed().getAllByRole<HTMLInputElement>("textbox", { hidden: true });
    for (const [i, one] of [KEEP, IN, MIND, AT, BAY].entries()) {
      expect(compute().disabled).toBe(true);
      const slot = slots[i] as HTMLInputElement;
      fireEvent.change(slot, { target: { value: one.text } });
      fireEvent.click(
        await crossed().findByRole("button", { name: `Token ·${one.text?.trim()}`, hidden: true }),
      );
    }
    fireEvent.click(compute());
    await crossed().findByRole("table");
    expect(network.asked(CROSSED)[0]?.body).toMatchObject({
      source: 40,
      pairs: [
        [43, 41],
        [44, 42],
      ],
    });
  });
});

describe("virtual weights", () => {
  const weighed = (one: typeof KEEP, value: number) => ({ token: one, value });
  const product = {
    model: "tiny",
    writer: "0.1",
    reader: "1.3 k",
    weight_processing: "folded",
    left: "writes",
    right: "reads",
    norm: 12.5,
    share: 0.4,
    random: 0.1,
    directions: [
      {
        value: 5,
        left_high: [weighed(KEEP, 2)],
        left_low: [weighed(BAY, -1)],
        right_high: [weighed(MIND, 3)],
        right_low: [],
      },
      { value: 1, left_high: [], left_low: [], right_high: [weighed(IN, 1)], right_low: [weighed(AT, -1)] },
    ],
    limits: [],
  };
  const card = () => within(screen.getByRole("region", { name: "Virtual weights" }));
  const choose = (label: string, value: string) =>
    fireEvent.change(card().getByLabelText(label), { target: { value } });

  async function openHeads(routes: Parameters<typeof playCircuits>[0], more = "") {
    const network = playCircuits(routes);
    openPage(`/circuits?model=tiny${more}`);
    await screen.findByRole("region", { name: "Virtual weights" });
    return network;
  }

  it("are of two components that the address then holds", async () => {
    const network = await openHeads({ [VIRTUAL]: product });
    expect(card().queryByLabelText("Writes: layer")).toBeNull();
    choose("Writes: what", "head");
    choose("Writes: head", "1");
    choose("Reads: what", "k");
    choose("Reads: layer", "1");
    choose("Reads: head", "3");
    expect(network.asked(VIRTUAL)).toHaveLength(0);
    fireEvent.submit(card().getByRole("button", { name: "Compute" }).closest("form") as HTMLFormElement);
    expect(here()).toBe("/circuits?model=tiny&writer=0.1&reader=1.3+k");
    expect(await card().findByText(/^0\.1 → 1\.3 k · norm 12\.5 · share 0\.400/)).toBeTruthy();
    expect(network.asked(VIRTUAL)[0]?.body).toMatchObject({
      model: "tiny",
      writer: "0.1",
      reader: "1.3 k",
      weight_processing: "folded",
    });
  });

  it("are told along their strongest directions, by the tokens at both ends", async () => {
    await openHeads({ [VIRTUAL]: product }, "&writer=0.1&reader=1.3+k");
    await card().findByRole("table");
    expect(rows(card())).toEqual([
      ["singular value", "tokens that write it", "tokens that look there"],
      ["5.00", "+·keep−·bay", "+·mind−"],
      ["1.00", "–", "+·in−·at"],
    ]);
    expect(card().getByLabelText<HTMLSelectElement>("Reads: what").value).toBe("k");
  });

  it("are nothing where nothing is read", async () => {
    const none = { ...product, share: null, directions: [], right: "neurons", reader: "mlp 1" };
    await openHeads({ [VIRTUAL]: none }, "&writer=0.1&reader=mlp+1");
    expect(await card().findByText("The reader reads nothing that the writer writes.")).toBeTruthy();
    expect(card().queryByText(/share/)).toBeNull();
    expect(card().queryByLabelText("Reads: head")).toBeNull();
  });

  it("of a pair that can't be are said so, with no second try", async () => {
    await openHeads(
      { [VIRTUAL]: problem(422, { code: "x", detail: "0.1 comes after 1.3.", remedy: "Swap them." }) },
      "&writer=1.3&reader=0.1+k",
    );
    const alert = within(await card().findByRole("alert"));
    expect(alert.getByText("Swap them.")).toBeTruthy();
    expect(alert.queryByRole("button", { name: "Try again" })).toBeNull();
  });
});
