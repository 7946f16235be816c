// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { model } from "../testing/samples";
import { BeforeFetching, Licence } from "./Licence";

const TERMS = { name: "Gemma Terms of Use", address: "https://ai.google.dev/gemma/terms" };
const gemma = model({ terms: TERMS, ready: false, bytes_to_download: 238e6, bytes_needed: 1.6e9 });

it("links the terms of use and says what a fetch takes", () => {
  const { container } = render(<BeforeFetching model={gemma} />);
  expect(screen.getByRole("link", { name: TERMS.name }).getAttribute("href")).toBe(TERMS.address);
  expect(container.textContent).toContain("asks whether you accept them");
  expect(container.textContent).toMatch(/238.MB to download.*1\.6.GB of disk/);
});

it("says nothing of a model that nobody fetches by name, and its licence in words", () => {
  const { container } = render(<BeforeFetching model={model()} />);
  expect(container.textContent).toBe("");
  render(<Licence model={model()} />);
  expect(screen.getByText("MIT")).toBeTruthy();
});
