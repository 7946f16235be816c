// @vitest-environment jsdom
import { cleanup, createEvent, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { glyphTokens } from "../../testing/samples";
import { tokenTitle } from "../../tokens/visible";
import type { Look } from "../state/look";
import { PointedProvider } from "../state/pointed";
import { TokenFlow } from "./TokenFlow";
import { tokenFacts } from "./TokenReadout";

const token = (text: string | null, hex: string, special = false) => ({
  id: 7,
  start: 0,
  end: 1,
  text,
  hex,
  special,
});
const look = {
  tokens: [token("<s>", "3c733e", true), token("<b>", "3c623e"), token(" a", "2061"), token("<b>", "3c623e")],
  copies: [[], [], [], [1]],
} as unknown as Look;
const loss = Float32Array.from([Number.NaN, 2, 5, Math.log(2)]);

beforeEach(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const ATTENTION = { looks: Float32Array.from([0, 1, 0, 0]), seen: Float32Array.from([0, 0, 0, 0.5]) };

function flow(
  onLock = vi.fn(),
  attention: typeof ATTENTION | null = ATTENTION,
  sink = true,
  shown: Look = look,
) {
  render(
    <PointedProvider>
      <TokenFlow
        look={shown}
        before={loss}
        after={null}
        locked={[]}
        onLock={onLock}
        onClear={() => {}}
        attention={attention}
        sink={sink}
      />
    </PointedProvider>,
  );
  const region = screen.getByRole("region", { name: /The prompt, \d tokens/ });
  const span = (at: number) => region.querySelector<HTMLElement>(`[data-token="${at}"]`);
  return { region, span, onLock };
}

describe("the tokens of a prompt", () => {
  it("are text and never markup; a screen reader reads the text itself", () => {
    const { region } = flow();
    expect(region.querySelector("b")).toBeNull();
    expect(region.querySelector(".visually-hidden")?.textContent).toBe("<b> a<b>");
  });

  it("leave the first token out of the scale of what is looked at, and mark it as left out", () => {
    const mostOnFirst = { looks: Float32Array.from([0.8, 0.2, 0, 0]), seen: new Float32Array(4) };
    const { span } = flow(vi.fn(), mostOnFirst, false);
    expect(span(0)?.classList.contains("left-out")).toBe(true);
    expect(span(1)?.classList.contains("left-out")).toBe(false);
    expect(span(1)?.style.getPropertyValue("--looked")).toBe("100%");
  });

  it("are walked by arrow keys, held by Enter; copies and what followed them are marked", () => {
    const { region, span, onLock } = flow();
    fireEvent.keyDown(region, { key: "End" });
    expect(span(3)?.classList.contains("pointed")).toBe(true);
    expect(span(1)?.classList.contains("copy")).toBe(true);
    expect(span(2)?.classList.contains("after-copy")).toBe(true);
    fireEvent.keyDown(region, { key: "Enter" });
    expect(onLock).toHaveBeenCalledWith(3);
    fireEvent.keyDown(region, { key: "ArrowLeft" });
    expect(span(2)?.classList.contains("pointed")).toBe(true);
  });

  it("show the loss as a share of ten nats and attention as a fill", () => {
    const { span } = flow();
    expect(span(2)?.style.getPropertyValue("--before")).toBe("50%");
    expect(span(0)?.style.getPropertyValue("--before")).toBe("0%");
    expect(span(1)?.style.getPropertyValue("--looked")).toBe("100%");
    expect(span(3)?.style.getPropertyValue("--looks")).toBe("50%");
  });
});

describe("a character of several tokens", () => {
  const parts = glyphTokens("日", [0xe6, 0x97, 0xa5]);
  const split = { tokens: [token("a", "61"), ...parts], copies: [[], [], [], []] } as unknown as Look;

  it("is drawn over them, each pointed at and held by itself", () => {
    const { region, span, onLock } = flow(vi.fn(), null, true, split);
    expect(region.querySelector(".glyph")?.textContent).toBe("日");
    expect([1, 2, 3].map((at) => span(at)?.title)).toEqual(parts.map(tokenTitle));
    expect(span(2)?.style.getPropertyValue("--before")).toBe("50%");
    fireEvent.pointerOver(span(3) as HTMLElement);
    expect(span(3)?.classList.contains("pointed")).toBe(true);
    fireEvent.click(span(2) as HTMLElement);
    expect(onLock).toHaveBeenCalledWith(2);
  });

  it("is copied whole, wherever the selection begins in it", () => {
    const { region } = flow(vi.fn(), null, true, split);
    const text = region.querySelector(".glyph-text")?.firstChild as Text;
    const selection = window.getSelection() as Selection;
    selection.setBaseAndExtent(text, 0, text, 1);
    const setData = vi.fn();
    const event = createEvent.copy(region);
    Object.assign(event, { clipboardData: { setData } });
    fireEvent(region, event);
    expect(setData).toHaveBeenCalledWith("text/plain", "日");
    selection.removeAllRanges();
  });

  it("in words is the character and the part, with its bytes", () =>
    expect(tokenFacts({ look: split, before: loss, after: null }, 2)).toMatch(
      /^Token 2 日 2\/3 \(id 41, bytes 97\) · loss 5 nats/,
    ));
});

it("a token that the vocabulary lacks is marked, and said to be unknown", () => {
  const unknown = { ...token("Ω", "cea9"), unknown: true };
  const lacking = { tokens: [token("a", "61"), unknown], copies: [[], []] } as unknown as Look;
  const { span } = flow(vi.fn(), null, true, lacking);
  expect([0, 1].map((at) => span(at)?.classList.contains("unknown"))).toEqual([false, true]);
  expect(tokenFacts({ look: lacking, before: loss, after: null }, 1)).toContain(
    "Token 1 Ω (id 7: unknown, the vocabulary lacks it)",
  );
  expect(tokenTitle(unknown)).toBe("token 7, unknown to the vocabulary · bytes ce a9");
});

it("a token in words: loss in nats and percent, ungated and gated, and its earlier copies", () => {
  expect(tokenFacts({ look, before: loss, after: null }, 3)).toMatch(
    /^Token 3 <b> \(id 7\) · loss 0\.693 nats \(50\.0.%\) · seen at 1, where ·a came next$/,
  );
  expect(tokenFacts({ look, before: loss, after: [null, 2, 5, 3] }, 3)).toContain(
    "0.693 nats (50.0\u202f%) → 3 nats",
  );
  expect(tokenFacts({ look, before: loss, after: null }, 0)).toContain("special");
});
