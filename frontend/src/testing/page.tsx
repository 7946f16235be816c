// Pages and their parts as a reader has them: in a browser, with every provider, at an address.
import { cleanup, configure, type RenderResult, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach } from "vitest";
import { App } from "../App";
import { Queries } from "../api/query";
import { SubjectProvider } from "../parts/subject";
import { ThemeProvider } from "../parts/theme";
import { clipboard } from "./browser";

// A busy machine may take its time; what is there is found at once all the same.
configure({ asyncUtilTimeout: 8000 });

afterEach(cleanup);

/** The whole window at an address. */
export function openPage(address: string): RenderResult {
  window.history.replaceState(null, "", address);
  return render(<App />);
}

/** A part by itself. */
export function renderPart(part: ReactNode): RenderResult {
  const inside = (children: ReactNode) => (
    <Queries>
      <ThemeProvider>
        <SubjectProvider>{children}</SubjectProvider>
      </ThemeProvider>
    </Queries>
  );
  const rendered = render(inside(part));
  return { ...rendered, rerender: (next) => rendered.rerender(inside(next)) };
}

/** A parameter of the address; null where it has none. */
export function inAddress(name: string): string | null {
  return new URLSearchParams(window.location.search).get(name);
}

/** The path and the query. */
export function here(): string {
  return window.location.pathname + window.location.search;
}

export const button = (name: string | RegExp) => screen.getByRole<HTMLButtonElement>("button", { name });
export const findButton = (name: string | RegExp) => screen.findByRole<HTMLButtonElement>("button", { name });

/** The text of each, white space as a reader sees it. */
export function textOf(element: Element | null | undefined): string {
  return (element?.textContent ?? "").replace(/\s+/g, " ").trim();
}

/** What was copied last. */
export const clipboardText = () => clipboard.text;
