// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Queries } from "../api/query";
import type { Model, Proof } from "../api/types";
import { ProofCard } from "./ProofCard";

const check = { name: "patterns", title: "patterns equal the plain model's", capability: "patterns" };
const proof = {
  dtype: "float32",
  seconds: 0.4,
  capabilities: [
    { name: "gating", title: "gates on heads", has: true, reason: null, limits: ["Values are cut."] },
    { name: "patterns", title: "attention patterns", has: false, reason: "differ by 0.09", limits: [] },
  ],
  checks: [{ ...check, difference: 0.09, tolerance: 1e-4, verdict: "fails", detail: "" }],
} as unknown as Proof;

afterEach(cleanup);

it("lists what a model gives, why not, and the checks behind it", () => {
  render(<ProofCard model={{ name: "m", ready: true, proof } as Model} />, { wrapper: Queries });
  const [gates, patterns] = screen.getAllByRole("listitem").map(({ textContent }) => textContent);
  expect(gates).toBe("yesgates on heads Values are cut.");
  expect(patterns).toBe("noattention patterns: differ by 0.09");
  expect(screen.getByText("9.0e-2")).toBeTruthy();
  expect(screen.getByText(/up to 1e-4 is allowed/)).toBeTruthy();
});

it("is not there without weights", () => {
  const { container } = render(<ProofCard model={{ name: "m", ready: false } as Model} />, {
    wrapper: Queries,
  });
  expect(container.textContent).toBe("");
});
