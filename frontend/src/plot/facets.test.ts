import { describe, expect, it } from "vitest";
import { facets } from "./Picture";

describe("axes side by side", () => {
  it("are counted once a column, however many rows there are", () => {
    const axis = (begin: number) => ({ domain: [begin, begin + 0.3] });
    const layout = {
      xaxis: axis(0),
      xaxis2: axis(0.35),
      xaxis3: axis(0.7),
      xaxis4: axis(0),
      yaxis: axis(0.5),
    };
    expect(facets({ data: [], layout })).toBe(3);
    expect(facets({ data: [], layout: { xaxis: {} } })).toBe(1);
    expect(facets({ data: [], layout: {} })).toBe(0);
  });
});
