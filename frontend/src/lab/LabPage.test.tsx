// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { saved, strokesOf } from "../testing/browser";
import { playLab } from "../testing/lab";
import { answering, later, problem } from "../testing/network";
import { button, clipboardText, here, inAddress, openPage, textOf } from "../testing/page";
import { ABSENT, EXAMPLE, encoded, gates, kept, look, model, prompt, token } from "../testing/samples";

const LOOK = "POST /api/v1/lab/look";

async function open(address = "/lab", routes: Parameters<typeof playLab>[0] = {}) {
  const network = playLab(routes);
  openPage(address);
  await screen.findByRole("region", { name: "Tokens" });
  return network;
}

describe("the lab on its way", () => {
  it("has its shape first, then the prompt's, and says what a long wait is for", async () => {
    const [models, seen] = [later(), later()];
    playLab({ "GET /api/v1/models": models.answer, [LOOK]: seen.answer });
    openPage("/lab");
    expect(await screen.findByRole("status", { name: "Loading the prompt lab" })).toBeTruthy();
    models.give([model()]);
    // The board needs the model alone.
    await screen.findByRole("grid");
    expect(screen.getByRole("status", { name: "Loading the tokens" })).toBeTruthy();
    expect(screen.getByRole("status", { name: "Loading all heads" })).toBeTruthy();
    expect(
      await screen.findByText(/Loading a model, or a long prompt, takes a few more seconds/),
    ).toBeTruthy();
    seen.give(look());
    expect(await screen.findByRole("region", { name: "Tokens" })).toBeTruthy();
    expect(screen.queryByText(/Reading the prompt/)).toBeNull();
    expect(document.title).toBe("Prompt lab · Tiny · Headscope");
  });

  it("says why there are no models, and tries again", async () => {
    const network = playLab({
      "GET /api/v1/models": problem(500, { code: "x", detail: "No table.", remedy: "Run `headscope init`." }),
    });
    openPage("/lab");
    const alert = await screen.findByRole("alert");
    expect(alert.querySelector("code")?.textContent).toBe("headscope init");
    network.answer({ "GET /api/v1/models": [model()] });
    fireEvent.click(within(alert).getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("region", { name: "Tokens" })).toBeTruthy();
  });

  it("says why the prompt can't be looked at, in place of tokens and heads", async () => {
    const network = playLab({
      [LOOK]: problem(422, { code: "prompt-too-long", detail: "90 tokens are too many.", remedy: "Cut it." }),
    });
    openPage("/lab");
    const alert = await screen.findByText("90 tokens are too many.");
    expect(screen.queryByRole("region", { name: "All heads" })).toBeNull();
    network.answer({ [LOOK]: look() });
    fireEvent.click(within(alert.closest("[role=alert]") as HTMLElement).getByRole("button"));
    expect(await screen.findByRole("region", { name: "All heads" })).toBeTruthy();
  });
});

describe("the model", () => {
  it("is the deepest that is here, and another by the title; what belonged to the last one goes", async () => {
    const network = await open("/lab?head=1.3&mute=1.3&answers=20&at=2&sort=entropy");
    const picker = screen.getByRole<HTMLSelectElement>("combobox", { name: "Model" });
    expect(picker.value).toBe("tiny");
    const groups = [...picker.querySelectorAll("optgroup")].map((group) => [group.label, textOf(group)]);
    expect(groups).toEqual([
      ["Here", "TinyLarge"],
      ["Not here yet", "Absent"],
    ]);
    fireEvent.change(picker, { target: { value: "org/large" } });
    expect(here()).toBe("/lab?model=org%2Flarge&sort=entropy");
    await waitFor(() => expect(network.asked(LOOK).at(-1)?.body.model).toBe("org/large"));
  });

  it("that isn't here comes with the command that brings it, to copy", async () => {
    playLab();
    openPage("/lab?model=absent");
    expect(
      await screen.findByText(/The weights of Absent aren’t here yet\. One command fetches them:/),
    ).toBeTruthy();
    fireEvent.click(button("Copy"));
    await screen.findByText("Copied");
    expect(clipboardText()).toBe("headscope models fetch absent");
    expect(screen.queryByRole("region", { name: "Mixing board" })).toBeNull();
  });

  it("that nobody knows is said so, with those that are here", async () => {
    playLab();
    openPage("/lab?model=nonsense");
    expect(
      await screen.findByText(
        /There is no model named nonsense here.*Choose one of these in the title: Tiny, Large/,
      ),
    ).toBeTruthy();
  });

  it("is none on a new Headscope: how the first one comes is said", async () => {
    playLab({ "GET /api/v1/models": [] });
    openPage("/lab");
    const said = await screen.findByText(/There is no model here yet/);
    expect(said.querySelector("code")?.textContent).toBe("headscope models fetch");
  });

  it("is the first that is named where none is here", async () => {
    playLab({ "GET /api/v1/models": [ABSENT] });
    openPage("/lab");
    expect(await screen.findByText(/The weights of Absent aren’t here yet/)).toBeTruthy();
  });
});

describe("a worker that isn't there", () => {
  it("is asked for again by the page itself; meanwhile it says what to start", async () => {
    const none = problem(503, {
      code: "no-worker",
      detail: "No worker is alive.",
      remedy: "`headscope worker`",
    });
    const network = playLab({ [LOOK]: none });
    openPage("/lab");
    expect(await screen.findByText("No worker is alive.")).toBeTruthy();
    network.answer({ [LOOK]: look() });
    expect(await screen.findByRole("region", { name: "Tokens" })).toBeTruthy();
  });
});

describe("gates of the address", () => {
  it("may be kept ones, by their id; one more change and they stand by themselves", async () => {
    await open("/lab?gates=9f", { "GET /api/v1/gates/9f": kept() });
    await screen.findByText(/^1 head muted/);
    fireEvent.click(button("Mute layer 0, head 0"));
    expect(here()).toBe("/lab?mute=0.0%2C1.3");
  });

  it("that nobody kept are said so, and all heads stay open", async () => {
    await open("/lab?gates=9f", {
      "GET /api/v1/gates/9f": problem(404, { code: "x", detail: "There are no gates 9f.", remedy: "" }),
    });
    expect(await screen.findByText("There are no gates 9f.")).toBeTruthy();
    for (const slider of screen.getAllByRole("slider"))
      expect(slider.getAttribute("aria-valuetext")).toBe("open");
  });
});

describe("what the example suggests", () => {
  it("is one click, and one back", async () => {
    await open();
    expect(screen.getByText("The cat comes back.")).toBeTruthy();
    fireEvent.click(button("Mute 1.3, 0.1"));
    expect(inAddress("mute")).toBe("0.1,1.3");
    fireEvent.click(button("Open all heads again"));
    expect(inAddress("mute")).toBeNull();
  });
});

describe("what the header gives of the lab", () => {
  async function export_(file: RegExp) {
    fireEvent.click(button("Export"));
    fireEvent.click(screen.getByRole("menuitem", { name: file }));
    await waitFor(() => expect(saved).toHaveLength(1));
    return saved[0] as (typeof saved)[number];
  }

  it("is a CSV of heads and scores, with the gates as they are", async () => {
    await open("/lab?mute=1.3:0.5");
    const { name, blob } = await export_(/CSV/);
    expect(name).toBe("headscope-lab-tiny.csv");
    const lines = (await blob.text()).split("\n");
    expect(lines[0]).toBe("layer,head,gate,induction,entropy");
    expect(lines[8]).toBe("1,3,0.5,0.8,0.3");
  });

  it("is a JSON with what the gates do", async () => {
    await open("/lab?mute=1.3");
    await screen.findByRole("list", { name: /Most likely/ });
    const { blob } = await export_(/JSON/);
    const file = JSON.parse(await blob.text());
    expect(file.under_the_gates.kl).toBe(0.25);
    expect(file.scores.induction[1]).toEqual([0.2, 0.01, null, 0.8]);
  });

  it("is a picture of all heads", async () => {
    await open();
    const made: HTMLCanvasElement[] = [];
    const create = document.createElement.bind(document);
    document.createElement = ((tag: string) => {
      const element = create(tag);
      if (element instanceof HTMLCanvasElement) made.push(element);
      return element;
    }) as typeof document.createElement;
    const { name, blob } = await export_(/PNG/);
    document.createElement = create;
    expect([name, blob.type]).toEqual(["headscope-lab-tiny.png", "image/png"]);
    // All heads, and a margin round them.
    const framed = made.find(({ width }) => width === 1200 + 2 * 16) as HTMLCanvasElement;
    expect(strokesOf(framed).map(({ call }) => call)).toEqual(["fillRect", "drawImage"]);
  });

  it("is a link that keeps the prompt, the gates and the view", async () => {
    const share = { token: "tok", url: "https://lab.example/s/tok", run_ids: [], view: {}, path: "/lab" };
    const network = await open("/lab?mute=1.3&head=1.3&sort=entropy", {
      "GET /api/v1/shares": [],
      "POST /api/v1/shares": { ...share, visibility: "unlisted", created_at: "2026-01-05T10:00:00Z" },
    });
    fireEvent.click(button("Share"));
    expect(screen.getByText("Whoever has the link can read the prompt’s text.")).toBeTruthy();
    fireEvent.change(screen.getByLabelText("Expires"), { target: { value: "7" } });
    fireEvent.click(button("Create link"));
    expect(await screen.findByDisplayValue("https://lab.example/s/tok")).toBeTruthy();
    const [asked] = network.asked("POST /api/v1/shares");
    expect(asked?.body).toMatchObject({
      path: "/lab",
      visibility: "unlisted",
      expires_in_days: 7,
      view: { head: "1.3", sort: "entropy" },
      lab: {
        model: "tiny",
        text: EXAMPLE.text,
        gates: [
          [1, 1, 1, 1],
          [1, 1, 1, 0],
        ],
      },
    });
    // Neither the prompt nor the gates stand in the view a second time.
    expect(asked?.body.view).not.toHaveProperty("mute");
  });
});

describe("a shared view of the lab", () => {
  const shared = {
    token: "tok",
    url: "",
    run_ids: [],
    runs: [],
    view: { head: "1.3" },
    path: "/lab",
    visibility: "unlisted",
    created_at: "2026-01-05T10:00:00Z",
    expires_at: "2026-02-05T10:00:00Z",
    revoked_at: null,
    lab: {
      model: "tiny",
      model_title: "Tiny",
      revision: "main",
      text: EXAMPLE.text,
      look: look(),
      gates: gates({
        answers: [{ token: token(20, " sat"), before: -1, after: -2, rank_before: 0, rank_after: 2 }],
      }),
      gate_values: encoded([1, 1, 1, 1, 1, 1, 1, 0], "2, 4"),
    },
  };

  async function openShare(routes: Parameters<typeof answering>[0] = {}) {
    const network = answering({ "GET /api/v1/shares/tok": shared, ...routes });
    openPage("/s/tok");
    await screen.findByRole("region", { name: "Tokens" });
    return network;
  }

  it("is whole without a worker: nothing but the share is asked for", async () => {
    const network = await openShare();
    expect(
      screen.getByText(/Shared view of the prompt lab · made 5 Jan 2026.* · open until 5 Feb/),
    ).toBeTruthy();
    expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("Prompt lab · Tiny");
    expect(screen.getByText(/^1 head muted/)).toBeTruthy();
    const next = within(screen.getByRole("list", { name: /Most likely/ }));
    expect(next.getAllByRole("listitem").map(textOf)[0]).toBe("·sat50.0 → 10.0 %");
    expect(screen.getByRole("table", { name: /Followed tokens/ })).toBeTruthy();
    expect(
      network
        .asked()
        .map(({ route }) => route)
        .filter((route) => !/theme|health/.test(route)),
    ).toEqual(["GET /api/v1/shares/tok"]);
  });

  it("is to look at: heads can be chosen, gates can't be set", async () => {
    await openShare();
    for (const slider of screen.getAllByRole<HTMLInputElement>("slider")) expect(slider.disabled).toBe(true);
    for (const name of ["Undo", "Reset", "Share", "Write a prompt", "Follow ·sat", "Mute"])
      expect(screen.queryByRole("button", { name })).toBeNull();
    fireEvent.keyDown(screen.getByRole("application", { name: /^Patterns of/ }), { key: "m" });
    expect(screen.getByText(/^1 head muted/)).toBeTruthy();
    const cell = screen.getByRole("gridcell", { name: /^0\.2,/ });
    fireEvent.pointerDown(cell, { button: 0, pointerId: 1 });
    expect(screen.getByRole("heading", { name: "Layer 0 · head 2" })).toBeTruthy();
    expect(here()).toBe("/s/tok");
  });

  it("opens in the lab, with its prompt kept there and its gates in hand", async () => {
    const network = await openShare({
      "POST /api/v1/prompts": problem(507, { code: "x", detail: "No room for a prompt.", remedy: "" }),
    });
    fireEvent.click(button("open in the lab"));
    expect(await screen.findByText("No room for a prompt.")).toBeTruthy();
    playLab({
      "GET /api/v1/shares/tok": shared,
      "POST /api/v1/prompts": prompt({ id: "p9" }),
      "GET /api/v1/prompts/p9": prompt({ id: "p9", texts: [EXAMPLE.text] }),
    });
    fireEvent.click(button("open in the lab"));
    await waitFor(() => expect(here()).toBe("/lab?model=tiny&prompt=p9&head=1.3&answers=20&mute=1.3"));
    await screen.findByRole("button", { name: "Write a prompt" });
    expect(network.asked("POST /api/v1/prompts")[0]?.body).toMatchObject({ text: EXAMPLE.text });
  });
});
