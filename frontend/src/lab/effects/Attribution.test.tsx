// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { playLab } from "../../testing/lab";
import { later, problem } from "../../testing/network";
import { inAddress, openPage, textOf } from "../../testing/page";
import { encoded, TOKENS, token } from "../../testing/samples";

const ATTRIBUTION = "POST /api/v1/lab/attribution";
const LENS = "POST /api/v1/lab/lens";

/** Head 1.3 writes for the token, 0.1 half as much against it. */
const parts = {
  model: "tiny",
  tokens: TOKENS,
  at: 4,
  token: token(20, " sat"),
  against: null,
  heads: encoded([0, -1, 0, 0, 0, 0, 0, 2], "2, 4"),
  parts: [
    { name: "embed", title: "embedding", value: 0.5 },
    { name: "mlp0", title: "MLP 0", value: 1 },
    { name: "mlp1", title: "MLP 1", value: 0.25 },
  ],
  total: 2.75,
  logit: 2.75,
  note: "",
};
const lens = {
  model: "tiny",
  at: 4,
  token: token(20, " sat"),
  layers: [
    {
      layers: 0,
      top: [token(21, " ran")],
      top_probability: [0.4],
      log_probability: Math.log(0.05),
      rank: 11,
    },
    { layers: 2, top: [token(20, " sat")], top_probability: [0.5], log_probability: Math.log(0.5), rank: 0 },
  ],
};

async function open(heading: string, address = "/lab", routes: Parameters<typeof playLab>[0] = {}) {
  const network = playLab({ [ATTRIBUTION]: parts, [LENS]: lens, ...routes });
  openPage(address);
  const card = within(await screen.findByRole("region", { name: heading }));
  // The likeliest token is what is asked about.
  await screen.findByRole("list", { name: /Most likely/ });
  return { network, card, show: () => fireEvent.click(card.getByRole("button", { name: "Show" })) };
}

describe("who writes the token", () => {
  const attribution = (address?: string, routes?: Parameters<typeof playLab>[0]) =>
    open("Direct logit attribution", address, routes);

  it("is asked when it is shown, of the likeliest next token of the model as it is", async () => {
    const { network, card, show } = await attribution();
    expect(network.asked(ATTRIBUTION)).toHaveLength(0);
    show();
    expect(card.getByRole("status", { name: "Loading the attribution" })).toBeTruthy();
    const words = await card.findByText(/^Contributions to the logit of/);
    expect(textOf(words)).toBe("Contributions to the logit of ·sat after token 4.Table");
    expect(network.asked(ATTRIBUTION)[0]?.body).toMatchObject({
      model: "tiny",
      token: 20,
      against: null,
      gates: null,
      at: null,
    });
    fireEvent.click(card.getByRole("button", { name: "Hide" }));
    expect(card.queryByText(/^Contributions to the logit/)).toBeNull();
  });

  it("is asked of the followed tokens, under the gates", async () => {
    const { network, card, show } = await attribution("/lab?answers=7,8&mute=0.0", {
      [ATTRIBUTION]: { ...parts, against: token(8, " lay") },
    });
    show();
    const words = await card.findByText(/minus that of/);
    expect(textOf(words)).toContain("minus that of ·lay after token 4, under the current gates.");
    expect(network.asked(ATTRIBUTION)[0]?.body).toMatchObject({
      token: 7,
      against: 8,
      gates: [
        [0, 1, 1, 1],
        [1, 1, 1, 1],
      ],
    });
  });

  it("is a map, blue for and red against, that tells a head's part and selects it", async () => {
    const { card, show } = await attribution();
    show();
    const map = await card.findByRole("img", { name: /^Each head’s contribution/ });
    const cells = [...map.querySelectorAll<HTMLElement>("[data-at]")];
    expect(cells.map(({ style }) => style.background)[7]).toContain("var(--needed) 100%");
    expect(cells.map(({ style }) => style.background)[1]).toContain("var(--harmful) 50%");
    expect(cells[7]?.style.gridColumn).toBe("2");
    expect(cells[7]?.style.gridRow).toBe("4");
    expect(card.getByText(/^Point at a head/)).toBeTruthy();
    fireEvent.pointerMove(cells[1] as Element);
    expect(card.getByText("0.1: −1.00")).toBeTruthy();
    fireEvent.pointerLeave(map);
    fireEvent.pointerDown(cells[7] as Element);
    expect(inAddress("head")).toBe("1.3");
    expect(card.getByText("1.3: 2.00")).toBeTruthy();
  });

  it("adds up: heads, MLPs together and the rest on one scale, and whether they make the logit", async () => {
    const { card, show } = await attribution();
    show();
    await card.findByText("all heads");
    expect(card.getAllByRole("listitem").map(textOf)).toEqual([
      "all heads1.00",
      "2 MLPs1.25",
      "embedding0.500",
    ]);
    const bars = [...document.querySelectorAll<HTMLElement>(".part-bar i")].map(({ style }) => style.width);
    expect(bars).toEqual(["40%", "50%", "20%"]);
    expect(textOf(card.getByText(/^Sums to the logit/))).toBe("Sums to the logit: 2.75 = 2.75 (0 apart)");
  });

  it("says where the parts don't make the logit, and why", async () => {
    const { card, show } = await attribution("/lab", {
      [ATTRIBUTION]: { ...parts, total: 2.5, note: "The logits are soft-capped." },
    });
    show();
    expect(textOf(await card.findByText(/^Sums to the logit/))).toContain("2.50 ≠ 2.75 (0.25 apart)");
    expect(card.getByText("The logits are soft-capped.")).toBeTruthy();
  });

  it("is a table, the largest part first whatever its sign", async () => {
    const { card, show } = await attribution();
    show();
    fireEvent.click(await card.findByRole("button", { name: "Table" }));
    const rows = within(card.getByRole("table")).getAllByRole("row").map(textOf);
    expect(rows.slice(0, 6)).toEqual([
      "partlogit",
      "head 1.32.00",
      "MLP 01.00",
      "head 0.1−1.00",
      "embedding0.500",
      "MLP 10.250",
    ]);
    fireEvent.click(card.getByRole("button", { name: "head 0.1" }));
    expect(inAddress("head")).toBe("0.1");
  });

  it("says why it can't be had, and asks again", async () => {
    const { network, card, show } = await attribution("/lab", {
      [ATTRIBUTION]: problem(500, { code: "x", detail: "Broken.", remedy: "Restart it." }),
    });
    show();
    const again = await card.findByRole("button", { name: "Try again" });
    network.answer({ [ATTRIBUTION]: parts });
    fireEvent.click(again);
    expect(await card.findByText("all heads")).toBeTruthy();
  });
});

describe("the answer layer by layer", () => {
  it("is a row a layer: the likeliest there, and how likely the followed token is", async () => {
    const { network, card, show } = await open("Logit lens");
    show();
    expect(textOf(await card.findByText(/^After token 4/))).toBe("After token 4; following ·sat.");
    expect(within(card.getByRole("table")).getAllByRole("row").slice(1).map(textOf)).toEqual([
      "0·ran 40.0 %5.00 %12",
      "2·sat 50.0 %50.0 %1",
    ]);
    expect(network.asked(LENS)[0]?.body).toMatchObject({ token: 20, gates: null });
    expect(network.asked(LENS)[0]?.body).not.toHaveProperty("against");
  });

  it("loads, and keeps the last answer while newer gates are asked", async () => {
    const first = later();
    const { network, card, show } = await open("Logit lens", "/lab", { [LENS]: first.answer });
    show();
    expect(card.getByRole("status", { name: "Loading the layers" })).toBeTruthy();
    first.give(lens);
    const table = await card.findByRole("table");
    network.answer({ [LENS]: problem(500, { code: "x", detail: "Broken.", remedy: "" }) });
    fireEvent.click(screen.getByRole("button", { name: "Mute layer 0, head 0" }));
    expect(await card.findByRole("alert")).toBeTruthy();
    expect(table.isConnected).toBe(true);
    network.answer({ [LENS]: lens });
    fireEvent.click(card.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(card.queryByRole("alert")).toBeNull());
    // A second token is no question of the lens: the server refuses it.
    for (const { body } of network.asked(LENS)) expect(body).not.toHaveProperty("against");
  });
});
