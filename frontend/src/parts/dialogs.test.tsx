// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it, vi } from "vitest";
import type { Share } from "../api/types";
import { clipboard, saved } from "../testing/browser";
import { answering, problem } from "../testing/network";
import { button, clipboardText, findButton, renderPart, textOf } from "../testing/page";
import { run } from "../testing/samples";
import { DEFAULT_COMPARE } from "../url/compare";
import { DEFAULT_VIEW } from "../url/view";
import { CopyButton } from "./CopyButton";
import { Confirm } from "./Dialog";
import { ErrorBoundary } from "./ErrorBoundary";
import { ExportMenu } from "./ExportMenu";
import { Menu, MenuItem } from "./Menu";
import { Segmented } from "./Segmented";
import { ShareButton } from "./ShareDialog";
import type { CompareSubject, RunSubject } from "./subject";
import { type ThemeChoice, useTheme } from "./theme";

const subject: RunSubject = {
  kind: "run",
  run: run(),
  view: { ...DEFAULT_VIEW, threshold: 0.4, head: { layer: 1, head: 3 } },
  share: null,
  path: "/runs/r1",
};
const compared: CompareSubject = {
  kind: "compare",
  runs: ["a", "b"],
  comparison: { ...DEFAULT_COMPARE, view: "overlap", threshold: 0.6 },
  share: null,
};

function Broken(): ReactNode {
  throw new Error("x is not a head");
}

/** Says the theme, and chooses another by a click. */
function Theme({ next }: { next: ThemeChoice }) {
  const { theme, choice, choose } = useTheme();
  return (
    <button type="button" onClick={() => choose(next)}>
      {choice} {theme}
    </button>
  );
}

function show(part: ReactNode) {
  answering({});
  return renderPart(part);
}

describe("a menu", () => {
  const pick = vi.fn();
  const menu = (
    <>
      <Menu label="More" title="What else">
        <MenuItem onSelect={() => pick("one")}>One</MenuItem>
        <MenuItem disabled onSelect={() => pick("two")}>
          Two
        </MenuItem>
        <MenuItem checked onSelect={() => pick("three")}>
          Three
        </MenuItem>
        <MenuItem href="/file.csv">Four</MenuItem>
      </Menu>
      <p>elsewhere</p>
    </>
  );
  const open = () => {
    pick.mockClear();
    show(menu);
    fireEvent.click(button("More"));
    return screen.getByRole("menu", { name: "What else" });
  };
  const focused = () => document.activeElement?.textContent;

  it("opens on its first item; arrows go round and over what is disabled", () => {
    const list = open();
    expect(button("More").getAttribute("aria-expanded")).toBe("true");
    const walk = (...keys: string[]) => {
      for (const key of keys) fireEvent.keyDown(list, { key });
      return focused();
    };
    expect(focused()).toBe("One");
    expect(walk("ArrowDown")).toBe("Three");
    expect(walk("ArrowDown", "ArrowDown")).toBe("One");
    expect(walk("ArrowUp")).toBe("Four");
    expect(walk("Home")).toBe("One");
    expect(walk("End")).toBe("Four");
    expect(screen.getByRole("menuitemradio", { name: "Three" }).getAttribute("aria-checked")).toBe("true");
    expect(screen.getByRole("menuitem", { name: "Four" }).hasAttribute("download")).toBe(true);
  });

  it("closes by a choice, Escape, Tab or a press elsewhere; the focus goes back where it came from", () => {
    fireEvent.keyDown(open(), { key: "Escape" });
    expect(screen.queryByRole("menu")).toBeNull();
    expect(focused()).toBe("More");
    fireEvent.click(button("More"));
    // Tab goes on to the next control: the browser moves the focus.
    expect(fireEvent.keyDown(screen.getByRole("menu"), { key: "Tab" })).toBe(true);
    expect(screen.queryByRole("menu")).toBeNull();
    fireEvent.click(button("More"));
    fireEvent.pointerDown(screen.getByText("elsewhere"));
    expect(screen.queryByRole("menu")).toBeNull();
    fireEvent.click(button("More"));
    fireEvent.click(screen.getByRole("menuitem", { name: "One" }));
    expect(pick.mock.calls).toEqual([["one"]]);
    expect(focused()).toBe("More");
  });
});

describe("a question before something is gone", () => {
  const ask = () => {
    const heard = { onConfirm: vi.fn(), onClose: vi.fn() };
    show(
      <Confirm title="Delete it?" action="Delete" {...heard}>
        It can’t be had back.
      </Confirm>,
    );
    return { ...heard, dialog: screen.getByRole<HTMLDialogElement>("dialog", { name: "Delete it?" }) };
  };

  it("is modal, named by its title, and does what is chosen", () => {
    const { dialog, onConfirm, onClose } = ask();
    expect(dialog.open).toBe(true);
    fireEvent.click(button("Delete"));
    expect([onConfirm.mock.calls.length, onClose.mock.calls.length]).toEqual([1, 0]);
  });

  it("is left by Keep it, the cross, Escape and the backdrop, but not by a click inside", () => {
    const { dialog, onClose } = ask();
    fireEvent.click(screen.getByText("It can’t be had back."));
    expect(onClose).toHaveBeenCalledTimes(0);
    fireEvent.click(button("Keep it"));
    fireEvent.click(button("Close"));
    fireEvent.click(dialog);
    const pressed = new Event("cancel", { cancelable: true });
    fireEvent(dialog, pressed);
    // React closes it, so that the page knows.
    expect(pressed.defaultPrevented).toBe(true);
    expect(onClose).toHaveBeenCalledTimes(4);
  });
});

describe("a copy button", () => {
  it("copies, says so for a moment, and says where the browser forbids it", async () => {
    show(<CopyButton text="headscope serve" />);
    fireEvent.click(button("Copy"));
    await screen.findByText("Copied");
    expect(clipboardText()).toBe("headscope serve");
    clipboard.forbidden = true;
    fireEvent.click(await findButton("Copy"));
    expect(await screen.findByText("Select it and copy by hand")).toBeTruthy();
  });
});

it("a choice of a few is a group of radio buttons", () => {
  const onChange = vi.fn();
  const options = [
    { value: "a" as const, text: "First", hint: "The first one" },
    { value: "b" as const, text: "Second" },
  ];
  show(<Segmented label="Which" options={options} value="a" onChange={onChange} />);
  const group = within(screen.getByRole("group", { name: "Which" }));
  expect(group.getAllByRole<HTMLInputElement>("radio").map(({ checked }) => checked)).toEqual([true, false]);
  expect(group.getByTitle("The first one").className).toBe("on");
  fireEvent.click(group.getByLabelText("Second"));
  expect(onChange).toHaveBeenCalledExactlyOnceWith("b");
});

it("a page that breaks says why and leaves the rest alone", () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  show(
    <>
      <p>the header</p>
      <ErrorBoundary>
        <Broken />
      </ErrorBoundary>
    </>,
  );
  expect(screen.getByText("x is not a head").tagName).toBe("CODE");
  expect(screen.getByText("the header")).toBeTruthy();
  expect(button("Reload")).toBeTruthy();
  expect(screen.getByRole("link").getAttribute("href")).toBe("/");
  expect(said).toHaveBeenCalled();
});

describe("what a page gives as files", () => {
  const addresses = () => {
    fireEvent.click(button("Export"));
    return Object.fromEntries(
      screen.getAllByRole("menuitem").map((item) => [textOf(item), item.getAttribute("href") ?? ""]),
    );
  };
  const asked = (address: string | undefined) => {
    const { pathname, searchParams } = new URL(address ?? "", "http://here");
    return [pathname, Object.fromEntries(searchParams)];
  };

  it("of a run is as it is looked at, in the page's theme", () => {
    localStorage.setItem("headscope-theme", "dark");
    show(<ExportMenu subject={{ ...subject, share: "tok" }} />);
    const files = addresses();
    expect(asked(files["This page, one HTML file"])).toEqual([
      "/api/v1/runs/r1/export",
      { format: "html", share: "tok", threshold: "0.4", mode: "every", theme: "dark" },
    ]);
    expect(Object.keys(files)).toContain("Heads and seeds, CSV");
  });

  it("of a run without roles is its first table", () => {
    show(<ExportMenu subject={{ ...subject, run: run({ analysis: "eigen", has_roles: false }) }} />);
    expect(Object.keys(addresses())).toContain("Its first table, CSV");
  });

  it("of a comparison names each run, and how they are compared", () => {
    show(<ExportMenu subject={compared} />);
    const address = new URL(addresses()["Its table, CSV"] ?? "", "http://here");
    expect(address.pathname).toBe("/api/v1/comparisons/overlap/export");
    expect(address.searchParams.getAll("run")).toEqual(["a", "b"]);
    expect(address.searchParams.get("threshold")).toBe("0.6");
  });

  it("of the lab is made by the page itself", () => {
    const save = vi.fn();
    show(<ExportMenu subject={{ kind: "lab", lab: null, view: {}, files: [{ title: "CSV", save }] }} />);
    fireEvent.click(button("Export"));
    fireEvent.click(screen.getByRole("menuitem", { name: "CSV" }));
    expect(save).toHaveBeenCalledOnce();
    expect(saved).toEqual([]);
  });
});

describe("sharing", () => {
  const LIST = "GET /api/v1/shares";
  const ADD = "POST /api/v1/shares";
  const share = (more: Partial<Share>): Share => ({
    token: "tokentoken",
    url: "http://127.0.0.1:8000/s/tokentoken",
    run_ids: ["r1"],
    view: {},
    path: "/runs/r1",
    visibility: "unlisted",
    created_at: "2026-01-05T10:00:00Z",
    expires_at: null,
    revoked_at: null,
    ...more,
  });
  const dialog = () => within(screen.getByRole("dialog", { name: "Share this view" }));

  function open(part: ReactNode, routes: Parameters<typeof answering>[0] = {}) {
    const network = answering({ [LIST]: [], [ADD]: share({}), ...routes });
    renderPart(part);
    fireEvent.click(button("Share"));
    return network;
  }

  it("makes a link to the view as it is, to copy; one that reaches this computer only is told so", async () => {
    const network = open(<ShareButton subject={subject} />);
    fireEvent.change(dialog().getByLabelText("Who can open it"), { target: { value: "private" } });
    fireEvent.change(dialog().getByLabelText("Expires"), { target: { value: "30" } });
    fireEvent.change(dialog().getByLabelText("Expires"), { target: { value: "" } });
    fireEvent.click(button("Create link"));
    expect((await dialog().findByLabelText<HTMLInputElement>("The link")).value).toContain("/s/tokentoken");
    expect(network.asked(ADD)[0]?.body).toEqual({
      run_ids: ["r1"],
      view: { threshold: "0.40", head: "1.3" },
      path: "/runs/r1",
      visibility: "private",
      expires_in_days: null,
    });
    expect(dialog().getByText(/This address works on this computer only.*export the page/)).toBeTruthy();
    fireEvent.click(button("Copy link"));
    await screen.findByText("Copied");
    expect(clipboardText()).toBe("http://127.0.0.1:8000/s/tokentoken");
    await waitFor(() => expect(network.asked(LIST)).toHaveLength(2));
  });

  it("keeps a comparison with its runs", async () => {
    const network = open(<ShareButton subject={compared} />, {
      [ADD]: share({ url: "https://lab.org/s/x" }),
    });
    fireEvent.click(button("Create link"));
    await dialog().findByLabelText("The link");
    expect(network.asked(ADD)[0]?.body).toMatchObject({
      run_ids: ["a", "b"],
      view: { view: "overlap", threshold: "0.60" },
      path: "/compare",
    });
    expect(dialog().queryByText(/this computer only/)).toBeNull();
  });

  it("lists the links to the same run that still open, and revokes one", async () => {
    const network = open(<ShareButton subject={subject} />, {
      [LIST]: [
        share({ token: "mine" }),
        share({ token: "other", run_ids: ["r2"] }),
        share({ token: "gone", revoked_at: "2026-01-06T10:00:00Z" }),
      ],
      "DELETE /api/v1/shares/mine": null,
    });
    const links = within(await dialog().findByRole("region", { name: "Links to this run" }));
    expect(links.getAllByRole("link").map(textOf)).toEqual(["/s/mine…"]);
    network.answer({ [LIST]: [] });
    fireEvent.click(links.getByRole("button", { name: "Revoke" }));
    await waitFor(() => expect(dialog().queryByRole("region", { name: "Links to this run" })).toBeNull());
    expect(network.asked("DELETE /api/v1/shares/mine")).toHaveLength(1);
  });

  it("says why no link could be made, or none revoked", async () => {
    const network = open(<ShareButton subject={subject} />, {
      [LIST]: [share({ token: "mine" })],
      [ADD]: problem(403, { code: "x", detail: "Sharing is off.", remedy: "Ask the host." }),
      "DELETE /api/v1/shares/mine": problem(409, { code: "x", detail: "Not now.", remedy: "" }),
    });
    fireEvent.click(button("Create link"));
    expect(textOf(await dialog().findByRole("alert"))).toBe("Sharing is off.Ask the host.");
    fireEvent.click(await dialog().findByRole("button", { name: "Revoke" }));
    expect(await dialog().findByText("Not now.")).toBeTruthy();
    expect(network.asked(ADD)).toHaveLength(1);
    expect(button("Create link").disabled).toBe(false);
  });
});

describe("light and dark", () => {
  it("are as was chosen before, on the page's root too", () => {
    localStorage.setItem("headscope-theme", "dark");
    show(<Theme next="system" />);
    expect(button("dark dark")).toBeTruthy();
    expect(document.documentElement.dataset.theme).toBe("dark");
    fireEvent.click(button("dark dark"));
    expect(localStorage.getItem("headscope-theme")).toBeNull();
    expect(button("system light")).toBeTruthy();
    expect(document.documentElement.dataset.theme).toBeUndefined();
  });

  it("are the system's where what was kept is no choice", () => {
    localStorage.setItem("headscope-theme", "purple");
    show(<Theme next="system" />);
    expect(button("system light")).toBeTruthy();
  });

  it("can be chosen where the browser keeps nothing", () => {
    vi.spyOn(Storage.prototype, "getItem").mockImplementation(() => {
      throw new Error("forbidden");
    });
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new Error("forbidden");
    });
    show(<Theme next="dark" />);
    fireEvent.click(button("system light"));
    expect(button("dark dark")).toBeTruthy();
  });
});
