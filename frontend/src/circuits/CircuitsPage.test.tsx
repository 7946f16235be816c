// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { DONE, dots, EIGEN, grid, playCircuits } from "../testing/circuits";
import { later, problem } from "../testing/network";
import { button, here, inAddress, openPage, textOf } from "../testing/page";
import { drawingIn, point } from "../testing/plotly";
import { analysis, run } from "../testing/samples";

vi.mock("plotly.js-cartesian-dist-min", () => import("../testing/plotly"));

const RUNS = "GET /api/v1/runs";
const START = "POST /api/v1/runs";
const ESTIMATE = "POST /api/v1/runs/estimate";
const GRAPH = "GET /api/v1/runs/c1/figures/k-graph";

const composed = run({
  id: "c1",
  analysis: "composition",
  title: "Composition",
  task: null,
  params: { weight_processing: "folded" },
});
const both = {
  [RUNS]: { runs: [DONE, composed], total: 2 },
  "GET /api/v1/runs/c1/figures/*": dots("K composition"),
};

const section = (title: string) => within(screen.getByRole("region", { name: title }));
const selected = () => within(screen.getByRole("region", { name: "Selected head" }));

async function open(address = "/circuits", routes: Parameters<typeof playCircuits>[0] = {}) {
  const network = playCircuits(routes);
  openPage(address);
  await screen.findByRole("region", { name: "Eigenvalues" });
  return network;
}

/** The drawing of a picture once it is there. */
async function drawing(title: string) {
  const picture = await screen.findByRole("region", { name: title });
  await waitFor(() => expect(drawingIn(picture)).toBeDefined());
  return picture;
}

describe("the circuits on their way", () => {
  it("load, and say why they can't", async () => {
    const models = later();
    const network = playCircuits({
      "GET /api/v1/models": models.answer,
      "GET /api/v1/analyses": problem(500, { code: "x", detail: "No analyses.", remedy: "Reinstall it." }),
    });
    openPage("/circuits");
    expect(await screen.findByText("No analyses.")).toBeTruthy();
    network.answer({ "GET /api/v1/analyses": [EIGEN], "GET /api/v1/models": [] });
    models.give([]);
    fireEvent.click(button("Try again"));
    expect(await screen.findByText(/There are no models here yet/)).toBeTruthy();
  });

  it("know no model of that name", async () => {
    playCircuits();
    openPage("/circuits?model=nonsense");
    expect(await screen.findByText("There is no model named nonsense here.")).toBeTruthy();
  });

  it("say why the runs can't be had", async () => {
    const network = playCircuits({ [RUNS]: problem(500, { code: "x", detail: "No runs.", remedy: "" }) });
    openPage("/circuits");
    const alert = await screen.findByRole("alert");
    network.answer({ [RUNS]: { runs: [DONE], total: 1 } });
    fireEvent.click(within(alert).getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("region", { name: "Eigenvalues" })).toBeTruthy();
  });
});

describe("a model's circuits", () => {
  it("begin with the small model that comes along, its newest results and their caveats", async () => {
    const network = await open();
    expect(screen.getByRole<HTMLSelectElement>("combobox", { name: "Model" }).value).toBe("tiny");
    expect(document.title).toBe("Circuits of Tiny · Headscope");
    expect(screen.getByText(/2 layers × 4 heads · folded weights/)).toBeTruthy();
    expect(await screen.findByText("Biases are left out.")).toBeTruthy();
    expect(network.asked(RUNS)[0]?.query.get("model")).toBe("tiny");
    expect(section("Eigenvalues").getByText("What eigen says.")).toBeTruthy();
  });

  it("are another model's by the title: head and token belong to the last one", async () => {
    await open("/circuits?model=tiny&head=1.3&token=40&composition=q");
    fireEvent.change(screen.getByRole("combobox", { name: "Model" }), { target: { value: "absent" } });
    expect(here()).toBe("/circuits?model=absent&composition=q");
    expect(await screen.findByText(/The weights of Absent aren’t here yet/)).toBeTruthy();
  });

  it("are of one weight processing, the one with results unless the reader says otherwise", async () => {
    await open("/circuits", {
      [RUNS]: { runs: [{ ...DONE, params: { weight_processing: "raw" } }], total: 1 },
    });
    expect(screen.getByLabelText<HTMLInputElement>("raw weights").checked).toBe(true);
    expect(section("Eigenvalues").getByRole("link", { name: "Full result" })).toBeTruthy();
    fireEvent.click(screen.getByLabelText("folded weights"));
    expect(inAddress("weights")).toBe("folded");
    expect(section("Eigenvalues").queryByRole("link", { name: "Full result" })).toBeNull();
    expect(section("Eigenvalues").getByRole("button", { name: "Compute" })).toBeTruthy();
  });

  it("lead to the full result as it is looked at, and give its files", async () => {
    await open("/circuits?head=1.3");
    expect(section("Eigenvalues").getByRole("link", { name: "Full result" }).getAttribute("href")).toBe(
      "/runs/e1?head=1.3",
    );
    fireEvent.click(section("Eigenvalues").getByRole("button", { name: "Export" }));
    expect(screen.getByRole("menuitem", { name: /npz/ }).getAttribute("href")).toContain(
      "/api/v1/runs/e1/export?format=npz",
    );
  });
});

describe("what isn't computed yet", () => {
  it("says how long it takes, and starts by a click", async () => {
    const network = await open("/circuits", { [START]: { ...composed, status: "queued", result: null } });
    const missing = section("Composition");
    expect(
      await missing.findByText(/Not computed yet from folded weights: it takes about 30.s here\./),
    ).toBeTruthy();
    const settings = missing.getByRole("link", { name: "Choose the settings" }).getAttribute("href");
    expect(settings).toBe("/new?analysis=composition&model=tiny&param.weight_processing=folded");
    network.answer({
      [RUNS]: { runs: [{ ...composed, status: "queued", result: null }, DONE], total: 2 },
    });
    fireEvent.click(missing.getByRole("button", { name: "Compute" }));
    expect(await missing.findByText("Waiting for a worker")).toBeTruthy();
    expect(network.asked(START)[0]?.body).toMatchObject({
      analysis: "composition",
      model: "tiny",
      params: { weight_processing: "folded" },
    });
    // It is asked again by itself until it is done.
    network.answer(both);
    expect(await missing.findByRole("link", { name: "Full result" })).toBeTruthy();
  });

  it("says why it can't be: refused, not started, or not even estimated", async () => {
    const refused = {
      status: 422,
      code: "x",
      title: "",
      detail: "It has one layer.",
      remedy: "Take another.",
    };
    const network = await open("/circuits", {
      [ESTIMATE]: { run_id: "x", existing: null, seconds: 1, refused },
    });
    expect(await section("Composition").findByText("It has one layer.")).toBeTruthy();
    expect(section("Composition").getByRole<HTMLButtonElement>("button", { name: "Compute" }).disabled).toBe(
      true,
    );

    network.answer({
      [ESTIMATE]: { run_id: "x", existing: null, seconds: 1, refused: null },
      [START]: problem(409, { code: "x", detail: "The queue is full.", remedy: "Wait." }),
    });
    fireEvent.click(screen.getByLabelText("raw weights"));
    const compute = () => section("Composition").getByRole<HTMLButtonElement>("button", { name: "Compute" });
    await waitFor(() => expect(compute().disabled).toBe(false));
    fireEvent.click(compute());
    expect(await section("Composition").findByText("The queue is full.")).toBeTruthy();
  });

  it("is started all at once where several are missing", async () => {
    const network = await open("/circuits", { [RUNS]: { runs: [], total: 0 }, [START]: composed });
    expect(screen.getByText(/^2 of the analyses below are not computed yet/)).toBeTruthy();
    network.answer(both);
    fireEvent.click(button("Compute what is missing"));
    await waitFor(() => expect(network.asked(START)).toHaveLength(2));
    expect(network.asked(START).map(({ body }) => body.analysis)).toEqual(["eigen", "composition"]);
    await waitFor(() => expect(screen.queryByText(/not computed yet/)).toBeNull());
  });

  it("is read from other weights only where the analysis takes no others", async () => {
    const raw = { properties: { weight_processing: { const: "raw", default: "raw" } } };
    await open("/circuits?weights=folded", {
      "GET /api/v1/analyses": [EIGEN, analysis("paths", { title: "Paths", params_schema: raw })],
    });
    expect(section("Paths").getByText(/This is read from raw weights only/)).toBeTruthy();
  });

  it("failed, and says why", async () => {
    const error = { status: 500, code: "out-of-memory", title: "", detail: "No room.", remedy: "Free some." };
    await open("/circuits", { [RUNS]: { runs: [{ ...composed, status: "failed", error }, DONE], total: 2 } });
    expect(section("Composition").getByText("This run failed")).toBeTruthy();
    expect(section("Composition").getByText("Free some.")).toBeTruthy();
    expect(section("Composition").getByRole("button", { name: "Try again" })).toBeTruthy();
  });
});

describe("pictures of all heads", () => {
  it("select a head by a click, which all others then show", async () => {
    await open();
    const map = await drawing("Copying heads");
    expect(within(map).getByText("How to read Copying heads.")).toBeTruthy();
    point(map, "click", { pointNumber: [6, 2] });
    expect(inAddress("head")).toBe("1.3");
    expect(selected().getByRole("heading", { name: "Layer 1 · head 3" })).toBeTruthy();
    expect(selected().getByRole("link", { name: "Mute it in the lab" }).getAttribute("href")).toBe(
      "/lab?model=tiny&head=1.3&mute=1.3",
    );
    fireEvent.click(selected().getByRole("button", { name: "Deselect the head" }));
    expect(inAddress("head")).toBeNull();
    expect(selected().getByText("No head selected")).toBeTruthy();
  });

  it("are of one composition, drawn from pairs of at least a strength, and of the selected head", async () => {
    const network = await open("/circuits", both);
    await drawing("K composition");
    expect(network.asked("GET /api/v1/runs/c1/figures/q-graph")).toHaveLength(0);
    fireEvent.change(screen.getByLabelText("Least strength of a pair"), { target: { value: "0.8" } });
    expect(inAddress("threshold")).toBe("0.80");
    const graph = await drawing("K composition");
    point(graph, "click", { customdata: [1, 3] });
    await waitFor(() =>
      expect(Object.fromEntries(network.asked(GRAPH).at(-1)?.query ?? [])).toMatchObject({
        threshold: "0.8",
        head: "1.3",
      }),
    );
    fireEvent.click(screen.getByLabelText("Queries"));
    expect(inAddress("composition")).toBe("q");
    await waitFor(() =>
      expect(network.asked("GET /api/v1/runs/c1/figures/q-graph").length).toBeGreaterThan(0),
    );
  });

  it("beyond the first few fold away, and aren't asked for before they are opened", async () => {
    const figures = ["one", "two", "three", "four", "five"];
    const network = await open("/circuits", {
      "GET /api/v1/analyses": [{ ...EIGEN, figures, head_figures: [] }],
      "GET /api/v1/runs/e1/figures/*": dots("Some dots"),
    });
    const more = screen.getByText("2 more pictures").closest("details") as HTMLDetailsElement;
    await waitFor(() => expect(network.asked("GET /api/v1/runs/e1/figures/*")).toHaveLength(3));
    more.open = true;
    fireEvent(more, new Event("toggle"));
    await waitFor(() => expect(network.asked("GET /api/v1/runs/e1/figures/*")).toHaveLength(5));
  });

  it("aren't there where the architecture has nothing to show", async () => {
    const none = grid("Rotary heads", Number.NaN);
    const network = await open("/circuits", { "GET /api/v1/runs/*/figures/copying": none });
    await waitFor(() => expect(network.asked("GET /api/v1/runs/e1/figures/copying")).toHaveLength(1));
    await waitFor(() => expect(screen.queryByRole("region", { name: /copying|Rotary/ })).toBeNull());
  });
});

describe("one head", () => {
  it("is opened from the maps, with its scores and pictures", async () => {
    await open("/circuits?head=1.3", both);
    await waitFor(() =>
      expect(
        selected()
          .getAllByRole("term")
          .map((term) => textOf(term.parentElement)),
      ).toEqual(["Copying score0.988", "Notecopies"]),
    );
    fireEvent.click(selected().getByRole("button", { name: "Open its circuits" }));
    expect(inAddress("tab")).toBe("head");
    expect(screen.getByRole("region", { name: "Token tables" })).toBeTruthy();
    expect(selected().getByRole("link", { name: "Mute it in the prompt lab" })).toBeTruthy();
    await drawing("Spectrum");
    fireEvent.click(screen.getByLabelText("All heads"));
    expect(inAddress("tab")).toBeNull();
  });

  it("is changed by its layer and its number", async () => {
    playCircuits(both);
    openPage("/circuits?head=1.3&tab=head");
    fireEvent.change(await screen.findByLabelText("Layer"), { target: { value: "0" } });
    expect(inAddress("head")).toBe("0.3");
    fireEvent.change(screen.getByLabelText("Head"), { target: { value: "2" } });
    expect(inAddress("head")).toBe("0.2");
  });

  it("is none that the model has: which there are is said, and the way back", async () => {
    playCircuits();
    openPage("/circuits?head=9.9&tab=head");
    expect(await screen.findByText("Tiny has no head 9.9.")).toBeTruthy();
    expect(screen.getByText("Layers run 0–1, heads 0–3.")).toBeTruthy();
    fireEvent.click(button("Show all heads"));
    expect(here()).toBe("/circuits?model=tiny");
  });

  it("says that its run looked at others only, and leads to one for it", async () => {
    const meta = { head: [0, 1], looked_at: [[0, 1]] };
    playCircuits({ ...both, "GET /api/v1/runs/*/figures/spectra": dots("Spectrum", meta) });
    openPage("/circuits?head=1.3&tab=head");
    const link = await screen.findByRole("link", { name: "Compute it for this head" });
    expect(link.getAttribute("href")).toContain("param.heads=1.3");
    expect(link.getAttribute("href")).toContain("param.weight_processing=folded");
  });

  it("has no scores before the eigenvalues are computed, and can have them here", async () => {
    playCircuits({ [RUNS]: { runs: [], total: 0 } });
    openPage("/circuits?head=1.3&tab=head");
    expect(await screen.findByText("Compute the eigenvalues to see its scores.")).toBeTruthy();
    expect(section("Eigenvalues").getByRole("button", { name: "Compute" })).toBeTruthy();
  });

  it("says why its scores can't be had", async () => {
    const network = await open("/circuits?head=1.3", {
      "GET /api/v1/runs/*/tables/copying": problem(410, {
        code: "x",
        detail: "The table is gone.",
        remedy: "",
      }),
    });
    expect(await selected().findByText("The table is gone.")).toBeTruthy();
    expect(network.asked("GET /api/v1/runs/e1/tables/copying").length).toBeGreaterThan(0);
  });
});
