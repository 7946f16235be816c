// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { strokesOf, textsOf } from "../../testing/browser";
import { HEAD_EFFECT, playLab } from "../../testing/lab";
import { problem } from "../../testing/network";
import { button, inAddress, openPage, textOf } from "../../testing/page";
import { above, encoded, look, TOKENS, TOO_FEW, token, weightByte } from "../../testing/samples";
import { axesFor } from "./paintHead";

const ABLATION = "POST /api/v1/lab/ablation";
const LOOK = "POST /api/v1/lab/look";
const PATTERNS = "POST /api/v1/lab/patterns";

const head = () => within(screen.getByRole("region", { name: "Selected head" }));
const pattern = () => head().getByRole("application", { name: /^Pattern of head/ });
const canvas = () => pattern().querySelector("canvas") as HTMLCanvasElement;
const tokens = () => screen.getByRole("region", { name: "Tokens" });

async function open(address = "/lab?head=1.3", routes: Parameters<typeof playLab>[0] = {}) {
  const network = playLab({ [LOOK]: look({ above: above() }), ...routes });
  openPage(address);
  await screen.findByRole("region", { name: "Selected head" });
  return network;
}

/** The middle of a cell of the pattern. */
function cell(row: number, column: number) {
  const { left, top, step } = axesFor(640, TOKENS.length);
  return { clientX: left + (column + 0.5) * step, clientY: top + (row + 0.5) * step };
}

describe("the selected head", () => {
  it("is none at first: what a selection would show is said", async () => {
    await open("/lab");
    expect(head().getByRole("heading", { name: "No head selected" })).toBeTruthy();
    expect(head().getByText(/to see its pattern enlarged/)).toBeTruthy();
  });

  it("is none where the model has no such head: which there are is said", async () => {
    await open("/lab?head=7.9");
    expect(head().getByRole("heading", { name: "There is no head 7.9" })).toBeTruthy();
    expect(head().getByText(/Layers run 0–1, heads 0–3\./)).toBeTruthy();
  });

  it("says its stripe, its scores and with whom it shares keys and values", async () => {
    await open();
    expect(
      head().getByText(/^A clear induction stripe: 10 repeated tokens .* 0\.800 .*95 %: 0\.750 to 0\.850/),
    ).toBeTruthy();
    const facts = head()
      .getAllByRole("term")
      .map((term) => [textOf(term), textOf(term.nextElementSibling)]);
    expect(facts.slice(0, 3)).toEqual([
      ["Induction", "0.800"],
      ["Induction, weight", "0.800"],
      ["Entropy", "0.300 nats"],
    ]);
    expect(head().getByText("Shares its keys and values with 1.2.")).toBeTruthy();
  });

  it.each([
    ["1.0", /^A faint induction stripe/],
    ["0.2", /^No induction stripe: 10/],
  ])("has a stripe as clear as is claimed of it: %s", async (name, says) => {
    await open(`/lab?head=${name}`);
    expect(head().getByText(says)).toBeTruthy();
  });

  it("isn't named by too few repeats: its score on random ones is said", async () => {
    await open("/lab?head=1.3", { [LOOK]: look({ above: TOO_FEW }) });
    expect(
      head().getByText(/^Too few repeats to tell: 2 repeated tokens .* 0\.800 more .* repeat it is 0\.0600/),
    ).toBeTruthy();
  });

  it("isn't named in a view that was shared before columns were told from stripes", async () => {
    await open("/lab?head=1.3", { [LOOK]: look() });
    expect(head().getByText(/^On the 2 repeated tokens it puts 0\.800.*isn’t known/)).toBeTruthy();
  });

  it("is muted and opened, and let go of", async () => {
    await open();
    fireEvent.click(head().getByRole("button", { name: "Mute" }));
    expect(inAddress("mute")).toBe("1.3");
    const again = head().getByRole("button", { name: "Open it again" });
    expect(again.getAttribute("aria-pressed")).toBe("true");
    fireEvent.click(again);
    expect(inAddress("mute")).toBeNull();
    fireEvent.click(button("Deselect the head"));
    expect(inAddress("head")).toBeNull();
  });
});

describe("what the repeats lose without it", () => {
  it("is asked once the selection rests, and told with both changes", async () => {
    const network = await open("/lab?head=1.3&fold=1");
    const effect = within(await head().findByRole("region", { name: "Without this head" }));
    await effect.findByRole("heading", { name: "Loss on repeats with 1.3 ablated" });
    expect(effect.getAllByRole("definition").map(textOf)).toEqual([
      "0.5 → 2 nats (+1.5)",
      "0.5 → 1.25 nats (+0.75)",
    ]);
    expect(network.asked(ABLATION)).toHaveLength(1);
    expect(network.asked(ABLATION)[0]?.body).toMatchObject({ model: "tiny", layer: 1, head: 3, fold: true });
  });

  it("isn't asked of heads that arrow keys pass over", async () => {
    const network = await open();
    const sheet = screen.getByRole("application", { name: /^Patterns of/ });
    for (let i = 0; i < 3; i += 1) fireEvent.keyDown(sheet, { key: "ArrowRight" });
    expect(inAddress("head")).toBe("0.0");
    await waitFor(() => expect(network.asked(ABLATION)).toHaveLength(1));
    expect(network.asked(ABLATION)[0]?.body).toMatchObject({ layer: 0, head: 0 });
  });

  it("is nothing where nothing repeats", async () => {
    await open("/lab?head=1.3", { [ABLATION]: { ...HEAD_EFFECT, loss_repeat: [null, null, null] } });
    expect(await head().findByText(/No sequence of tokens repeats here/)).toBeTruthy();
  });

  it("says why it can't be had, and tries again", async () => {
    const network = await open("/lab?head=1.3", {
      [ABLATION]: problem(507, { code: "no-memory", detail: "No room.", remedy: "Shorten it." }),
    });
    const alert = within(await head().findByRole("alert"));
    expect(alert.getByText("Shorten it.")).toBeTruthy();
    network.answer({ [ABLATION]: HEAD_EFFECT });
    fireEvent.click(alert.getByRole("button", { name: "Try again" }));
    expect(await head().findByText(/with 1.3 ablated/)).toBeTruthy();
  });
});

describe("its pattern", () => {
  it("names the tokens on both axes, the special one as it is spelled", async () => {
    await open();
    await waitFor(() => expect(textsOf(canvas())).toHaveLength(10));
    expect(textsOf(canvas()).slice(0, 6)).toEqual(["<s>", "<s>", "·the", "·the", "·cat", "·cat"]);
  });

  it("is walked by arrow keys, which the text under the tokens follows, and holds a token by Enter", async () => {
    await open();
    for (const key of ["ArrowUp", "ArrowLeft"]) fireEvent.keyDown(pattern(), { key });
    expect(tokens().textContent).toContain("Token 3 ·the (id 11)");
    expect(tokens().textContent).toMatch(
      /Through 1\.3 this token looks at ·cat \(2\) 79\.9.%, <s> \(0\) 20\.0/,
    );
    fireEvent.keyDown(pattern(), { key: "Enter" });
    expect(inAddress("locked")).toBe("3");
    fireEvent.keyDown(pattern(), { key: "Escape" });
    expect(tokens().textContent).toContain("Unpin it");
    expect(fireEvent.keyDown(pattern(), { key: "x" })).toBe(true);
  });

  it("shows by lines what the pointed row looks at, and holds it by a click", async () => {
    await open();
    fireEvent.mouseMove(canvas(), cell(4, 1));
    expect(tokens().textContent).toContain("Token 4 ·cat");
    const { left, top, step } = axesFor(640, TOKENS.length);
    await waitFor(() =>
      expect(strokesOf(canvas(), "strokeRect").map(({ args }) => args)).toContainEqual([
        left,
        top + 4 * step,
        5 * step,
        step,
      ]),
    );
    fireEvent.click(canvas(), cell(4, 1));
    expect(inAddress("locked")).toBe("4");
    fireEvent.click(canvas(), cell(4, 1));
    expect(inAddress("locked")).toBeNull();
    fireEvent.mouseLeave(canvas());
    expect(tokens().textContent).toContain("Point at a token for its numbers");
  });

  it("is pointed at by the names too: queries on the left, keys above", async () => {
    await open();
    fireEvent.mouseMove(canvas(), { ...cell(2, 0), clientX: 3 });
    expect(tokens().textContent).toContain("Token 2 ·cat");
    fireEvent.mouseMove(canvas(), { ...cell(0, 1), clientY: 3 });
    expect(tokens().textContent).toContain("Token 1 ·the");
    fireEvent.mouseMove(canvas(), { clientX: 3, clientY: 3 });
    expect(tokens().textContent).toContain("Point at a token");
  });
});

describe("the pattern of a long prompt", () => {
  const long = look({
    thumbs: { size: 3, block: 2, values: encoded(Array(8 * 6).fill(255), "2, 4, 6", "u1") },
  });
  const bytes = Array.from({ length: 4 }, (_, number) =>
    TOKENS.flatMap((_, query) =>
      Array.from({ length: query + 1 }, (_, key) => (number === 3 && key === 1 ? weightByte(0.5) : 0)),
    ),
  ).flat();
  const layer = {
    model: "tiny",
    tokens: TOKENS,
    layers: [1],
    patterns: null,
    top: null,
    triangle: encoded(bytes, "1, 4, 15", "u1"),
  };

  it("is asked for with its layer, and read exactly", async () => {
    const network = await open("/lab?head=1.3&weighted=1&locked=4", {
      "POST /api/v1/lab/look": long,
      [PATTERNS]: layer,
    });
    await waitFor(() => expect(tokens().textContent).toMatch(/looks at ·the \(1\) 49\.8/));
    expect(network.asked(PATTERNS)[0]?.body).toMatchObject({ layers: [1], weighted: true, compact: true });
    // Another head of the layer is there already.
    fireEvent.keyDown(screen.getByRole("application", { name: /^Patterns of/ }), { key: "ArrowRight" });
    expect(inAddress("head")).toBe("1.0");
    await waitFor(() => expect(tokens().textContent).toContain("Through 1.0"));
    expect(tokens().textContent).toContain("looks at nowhere in particular");
    expect(network.asked(PATTERNS)).toHaveLength(1);
  });

  it("says how much of its attention was too weak to be sent", async () => {
    const top = {
      keys: encoded(Array(4).fill([0, 0, 0, 0, 2]).flat(), "1, 4, 5, 1", "u2"),
      weights: encoded(Array(20).fill(weightByte(0.5)), "1, 4, 5, 1", "u1"),
      rest: encoded(Array(20).fill(0.5), "1, 4, 5"),
    };
    await open("/lab?head=1.3&locked=4", {
      "POST /api/v1/lab/look": long,
      [PATTERNS]: { ...layer, triangle: null, top },
    });
    await waitFor(() =>
      expect(tokens().textContent).toMatch(/looks at ·cat \(2\) 49\.8.%, 50\.0.% on tokens with less weight/),
    );
  });

  it("says what of its attention the model's learned sink took", async () => {
    const triangle = encoded(Array(60).fill(weightByte(0.2)), "1, 4, 15", "u1");
    const sinks = encoded(Array(20).fill(0.3), "1, 4, 5");
    await open("/lab?head=1.3&locked=4", {
      "POST /api/v1/lab/look": long,
      [PATTERNS]: { ...layer, triangle, sinks },
    });
    await waitFor(() =>
      expect(tokens().textContent).toMatch(/30\.0.% on no token, but on the model's learned sink/),
    );
  });

  it("says why it can't be had, while the small picture stays", async () => {
    await open("/lab?head=1.3", {
      "POST /api/v1/lab/look": long,
      [PATTERNS]: problem(500, { code: "x", detail: "Broken.", remedy: "Mend it." }),
    });
    expect(textOf(await head().findByText("Broken."))).toBe("Broken.");
    expect(pattern()).toBeTruthy();
  });

  it("has a name in hand clear the room of its neighbours", async () => {
    const many = Array.from({ length: 200 }, (_, i) => token(i, ` w${i}`));
    const size = (200 * 201) / 2;
    await open("/lab?head=0.0&locked=101", {
      "POST /api/v1/lab/look": look({
        tokens: many,
        copies: many.map(() => []),
        loss: encoded(Array(200).fill(1), "200"),
        n_ctx: 512,
        thumbs: { size: 200, block: 1, values: encoded(Array(size * 8).fill(0), `2, 4, ${size}`, "u1") },
      }),
    });
    await waitFor(() => expect(textsOf(canvas())).toContain("·w101"));
    const named = new Set(textsOf(canvas()));
    expect(named.size).toBeLessThan(60);
    expect([named.has("·w100"), named.has("·w0")]).toEqual([false, true]);
  });
});
