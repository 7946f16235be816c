// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import type { Share } from "../api/types";
import { Markdown } from "./Markdown";
import { ProblemNote } from "./ProblemNote";
import { shareState } from "./ShareDialog";

afterEach(cleanup);

describe("a model card", () => {
  const card =
    "---\nlicense: mit\n---\n# Card\nTwo layers,\n**attention only**, *where* 2*3*4 is 24.\n\n- one `head`\n- two\n\n| score | value |\n|---|---|\n| induction | 0.9 |\n\n```\n# not a heading\n```\n<script>alert(1)</script>";

  it("is drawn from what it says, its markup stays text", () => {
    const { container } = render(<Markdown source={card} />);
    expect(container.querySelector("h3")?.textContent).toBe("Card");
    expect(container.querySelector("strong")?.textContent).toBe("attention only");
    expect([...container.querySelectorAll("em")].map((word) => word.textContent)).toEqual(["where"]);
    expect([...container.querySelectorAll("li")].map((item) => item.textContent)).toEqual([
      "one head",
      "two",
    ]);
    expect([...container.querySelectorAll("td")].map((cell) => cell.textContent)).toEqual([
      "induction",
      "0.9",
    ]);
    expect(container.querySelector("pre")?.textContent).toBe("# not a heading");
    expect(container.querySelector("script")).toBeNull();
    expect(container.textContent).toContain("<script>alert(1)</script>");
    expect(container.textContent).not.toContain("license");
  });

  it("links to the web only", () => {
    const { container } = render(<Markdown source={"[a](https://example.org/a) [b](javascript:alert(1))"} />);
    expect([...container.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual([
      "https://example.org/a",
    ]);
  });
});

it("a problem is said aloud, with its command as code and a way on", () => {
  const problem = {
    type: "about:blank",
    title: "",
    status: 503,
    code: "x",
    detail: "No worker is alive.",
    remedy: "Start one with `headscope worker`.",
  };
  render(<ProblemNote problem={problem} retry={() => {}} />);
  expect(screen.getByRole("alert").querySelector("code")?.textContent).toBe("headscope worker");
  expect(screen.getByRole("button", { name: "Try again" })).toBeTruthy();
});

it("a share says how it stands", () => {
  const share = {
    visibility: "unlisted",
    created_at: "2026-01-05T10:00:00Z",
    expires_at: null,
    revoked_at: null,
  } as Share;
  const now = new Date("2026-02-01T00:00:00Z");
  expect(shareState(share, now)).toMatch(/^unlisted · made 5 Jan 2026/);
  expect(shareState({ ...share, expires_at: "2026-01-10T10:00:00Z" }, now)).toMatch(/^expired 10 Jan 2026/);
  expect(shareState({ ...share, expires_at: "2026-03-10T10:00:00Z" }, now)).toMatch(/until 10 Mar 2026/);
  expect(shareState({ ...share, revoked_at: "2026-01-06T10:00:00Z" }, now)).toMatch(/^revoked 6 Jan 2026/);
});
