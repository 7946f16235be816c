// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { renderPart, textOf } from "../testing/page";
import { GatingHeadline } from "./GatingHeadline";

const shares = (needed: string, harmful: string) => ({
  [`always_${needed}`]: 0.1,
  [`any_${needed}`]: 0.4,
  [`always_${harmful}`]: 0.05,
  [`any_${harmful}`]: 0.3,
  accuracy_ungated: 0.2,
  accuracy_plus: 0.9,
});

describe("a map in a line", () => {
  it("speaks of roles where the model can do the task", () => {
    const { container } = renderPart(<GatingHeadline headline={shares("needed", "harmful")} />);
    expect(textOf(container)).toContain("needed: 10.0 % of heads always");
    expect(container.innerHTML).not.toContain("steering");
  });

  it("says how sure the shares are, and that few fits are few", () => {
    const headline = {
      ...shares("needed", "harmful"),
      ...{ low_always_needed: 0.02, high_always_needed: 0.2, low_any_needed: 0.3, high_any_needed: 0.6 },
      fits: 2,
    };
    const { container } = renderPart(<GatingHeadline headline={headline} />);
    expect(textOf(container)).toContain(
      "needed: 10.0 % of heads always (95 %: 2.0–20.0 %), 40.0 % in some seed (95 %: 30.0–60.0 %); only 2 fits",
    );
  });

  it("says of a steering map what it is, and of no head that it is needed or harmful", () => {
    const { container } = renderPart(<GatingHeadline headline={shares("lifts_open", "lifts_shut")} />);
    const said = textOf(container);
    expect(said).toContain("lifts when open: 10.0 % of heads always, 40.0 % in some seed");
    expect(said).toContain("steering map");
    expect(said).not.toMatch(/needed|harmful/);
    expect(container.innerHTML).toContain("The model answers 20");
  });
});
