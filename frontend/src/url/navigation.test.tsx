// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { answering } from "../testing/network";
import { here, renderPart } from "../testing/page";
import { go, Link, usePlace } from "./navigation";
import { useFollowing } from "./useFollowing";
import { DEFAULT_VIEW, type Place, type View } from "./view";

const RUNS: Place = { page: "runs", model: null, task: null, analysis: null, status: null };

function Where() {
  const place = usePlace();
  return (
    <>
      <p>{place.page}</p>
      <Link to={{ page: "run", id: "r1", view: { ...DEFAULT_VIEW, head: { layer: 1, head: 3 } } }}>
        a run
      </Link>
    </>
  );
}

const onView = vi.fn();

function Slider() {
  const [view, setView] = useState<View>(DEFAULT_VIEW);
  const [shown, setThreshold] = useFollowing(view, (next, options) => {
    onView(next.threshold, options?.replace);
    setView(next);
  });
  return (
    <>
      <output>{shown.threshold}</output>
      <input aria-label="Threshold" onChange={({ target }) => setThreshold(Number(target.value))} />
      <button type="button" onClick={() => setView({ ...view, threshold: 0.9 })}>
        elsewhere
      </button>
    </>
  );
}

beforeEach(() => {
  window.history.replaceState(null, "", "/tasks");
  answering({});
});

describe("going to a place", () => {
  it("is heard by what shows it, and taken back by the browser", async () => {
    renderPart(<Where />);
    act(() => go(RUNS));
    expect([here(), screen.getByText("runs").tagName]).toEqual(["/runs", "P"]);
    act(() => window.history.back());
    expect(await screen.findByText("tasks")).toBeTruthy();
  });

  it("begins another page at its top, and leaves a changed view where it is", () => {
    const scroll = vi.fn();
    vi.stubGlobal("scrollTo", scroll);
    go(RUNS);
    expect(scroll).toHaveBeenCalledExactlyOnceWith(0, 0);
    go({ ...RUNS, model: "tiny" });
    expect(here()).toBe("/runs?model=tiny");
    expect(scroll).toHaveBeenCalledOnce();
  });

  it("that one is at already is no step, and replacing one isn't either", () => {
    const steps = () => window.history.length;
    const before = steps();
    go("/tasks");
    go(RUNS, { replace: true });
    expect([here(), steps()]).toEqual(["/runs", before]);
    go("/models");
    expect(steps()).toBe(before + 1);
  });
});

describe("a link", () => {
  it("has a true address, and stays in the page when clicked plainly", () => {
    renderPart(<Where />);
    const link = screen.getByRole("link", { name: "a run" });
    expect(link.getAttribute("href")).toBe("/runs/r1?head=1.3");
    expect(fireEvent.click(link)).toBe(false);
    expect(here()).toBe("/runs/r1?head=1.3");
  });

  it.each([{ ctrlKey: true }, { metaKey: true }, { shiftKey: true }, { button: 1 }])(
    "leaves a click that asks for another window to the browser: %j",
    (more) => {
      renderPart(<Where />);
      const event = new MouseEvent("click", { bubbles: true, cancelable: true, ...more });
      // jsdom would follow the link; that the page doesn't keep it from that is what counts.
      let kept = true;
      const last = (heard: Event) => {
        kept = heard.defaultPrevented;
        heard.preventDefault();
      };
      window.addEventListener("click", last, { once: true });
      fireEvent(screen.getByRole("link", { name: "a run" }), event);
      expect([kept, here()]).toEqual([false, "/tasks"]);
    },
  );
});

describe("a slider that the address follows", () => {
  const drag = (value: number) =>
    fireEvent.change(screen.getByLabelText("Threshold"), { target: { value: String(value) } });
  const shown = () => screen.getByRole("status").textContent;

  beforeEach(() => void onView.mockClear());

  it("shows each value at once, and is in the address when it rests: one step back a move", async () => {
    renderPart(<Slider />);
    for (const value of [0.51, 0.52, 0.6]) drag(value);
    expect(shown()).toBe("0.6");
    expect(onView).not.toHaveBeenCalled();
    await waitFor(() => expect(onView.mock.calls).toEqual([[0.6, false]]));
    drag(0.7);
    await waitFor(() =>
      expect(onView.mock.calls).toEqual([
        [0.6, false],
        [0.7, true],
      ]),
    );
  });

  it("follows the address where it changes otherwise", async () => {
    renderPart(<Slider />);
    fireEvent.click(screen.getByText("elsewhere"));
    expect(shown()).toBe("0.9");
    drag(0.9);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(onView).not.toHaveBeenCalled();
  });
});
