import { describe, expect, it } from "vitest";
import { stepped } from "./laid";

const grid = { layers: 3, heads: 2 };

describe("arrow keys", () => {
  it("begin at the first head", () =>
    expect(stepped(null, "ArrowDown", grid, false)).toEqual({ layer: 0, head: 0 }));

  it("go through layers and heads as the grid lies", () => {
    const here = { layer: 1, head: 0 };
    expect(stepped(here, "ArrowRight", grid, false)).toEqual({ layer: 2, head: 0 });
    expect(stepped(here, "ArrowDown", grid, false)).toEqual({ layer: 1, head: 1 });
    expect(stepped(here, "ArrowRight", grid, true)).toEqual({ layer: 1, head: 1 });
    expect(stepped(here, "ArrowDown", grid, true)).toEqual({ layer: 2, head: 0 });
  });

  it("stop at the edges, and other keys aren't theirs", () => {
    expect(stepped({ layer: 2, head: 0 }, "ArrowRight", grid, false)).toEqual({ layer: 2, head: 0 });
    expect(stepped({ layer: 0, head: 0 }, "ArrowUp", grid, false)).toEqual({ layer: 0, head: 0 });
    expect(stepped({ layer: 0, head: 0 }, "Enter", grid, false)).toBeNull();
  });
});
