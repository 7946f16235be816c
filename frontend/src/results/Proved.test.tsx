// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Queries } from "../api/query";
import type { Model, Proof } from "../api/types";
import { lostFor, Proved } from "./Proved";

const capability = (name: string, title: string, reason: string | null = null) => ({
  name,
  title,
  has: reason === null,
  reason,
  limits: [],
});
const whole = [capability("logits", "what the model predicts"), capability("gating", "gates on heads")];
const wrong = capability("patterns", "attention patterns", "patterns differ by 0.09, allowed is 0.0001");

function model(capabilities: ReturnType<typeof capability>[] | null): Model {
  const proof = capabilities && ({ capabilities, checks: [] } as unknown as Proof);
  return { name: "small", title: "Small", ready: true, proof } as Model;
}

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("what a model was proved to give", () => {
  it("is said where something is lost, with its figure, and with what is left", () => {
    render(<Proved model={model([...whole, wrong])} />, { wrapper: Queries });
    const note = screen.getByRole("note").textContent;
    expect(note).toContain("No attention patterns: patterns differ by 0.09, allowed is 0.0001.");
    expect(note).toContain("it gives gates on heads");
  });

  it("needs no words where all is right", () => {
    render(<Proved model={model(whole)} />, { wrapper: Queries });
    expect(screen.queryByRole("note")).toBeNull();
  });

  it("is asked of a worker where nobody knows, which may say no", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", async ({ url, method }: Request) => {
      asked.push(`${method} ${new URL(url).pathname}`);
      const problem = { status: 422, code: "c", detail: "It can't be loaded.", remedy: "Choose another." };
      return new Response(JSON.stringify(problem), { status: 422 });
    });
    render(<Proved model={model(null)} />, { wrapper: Queries });
    fireEvent.click(screen.getByRole("button", { name: "Check it now" }));
    await waitFor(() => expect(screen.getByText("It can't be loaded.")).toBeTruthy());
    expect(asked).toEqual(["POST /api/v1/models/small/check"]);
  });

  it("closes an analysis that needs what is lost, and every one without logits", () => {
    expect(lostFor({ needs: ["gating"] }, model([...whole, wrong]))).toEqual([]);
    expect(lostFor({ needs: ["patterns"] }, model([...whole, wrong]))).toEqual([wrong]);
    const blind = [capability("logits", "what the model predicts", "logits differ")];
    expect(lostFor({ needs: [] }, model(blind))).toEqual(blind);
    expect(lostFor({ needs: ["patterns"] }, model(null))).toEqual([]);
  });
});
