import { describe, expect, it } from "vitest";
import { stepped } from "./RoleGrid";
import type { Gates } from "./roles";

const gates: Gates = { seeds: 1, layers: 3, heads: 2, plus: new Float32Array(6), minus: new Float32Array(6) };

describe("arrow keys", () => {
  it("begin at the first head", () =>
    expect(stepped(null, "ArrowDown", gates, false)).toEqual({ layer: 0, head: 0 }));

  it("go through layers and heads as the grid lies", () => {
    const here = { layer: 1, head: 0 };
    expect(stepped(here, "ArrowRight", gates, false)).toEqual({ layer: 2, head: 0 });
    expect(stepped(here, "ArrowDown", gates, false)).toEqual({ layer: 1, head: 1 });
    expect(stepped(here, "ArrowRight", gates, true)).toEqual({ layer: 1, head: 1 });
    expect(stepped(here, "ArrowDown", gates, true)).toEqual({ layer: 2, head: 0 });
  });

  it("stop at the edges, and other keys aren't theirs", () => {
    expect(stepped({ layer: 2, head: 0 }, "ArrowRight", gates, false)).toEqual({ layer: 2, head: 0 });
    expect(stepped({ layer: 0, head: 0 }, "ArrowUp", gates, false)).toEqual({ layer: 0, head: 0 });
    expect(stepped({ layer: 0, head: 0 }, "Enter", gates, false)).toBeNull();
  });
});
