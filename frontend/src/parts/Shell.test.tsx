// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { systemDark } from "../testing/browser";
import { playLab } from "../testing/lab";
import { answering, problem } from "../testing/network";
import { button, here, openPage } from "../testing/page";
import { model } from "../testing/samples";

const nav = () => within(screen.getByRole("navigation", { name: "Pages" }));
const current = () =>
  nav()
    .getAllByRole("link")
    .filter((link) => link.getAttribute("aria-current") === "page")
    .map((link) => link.textContent);

it("every page has a way to the others, and says which it is", async () => {
  answering({ "GET /api/v1/models": [model()] });
  openPage("/models");
  await screen.findByText("Tiny");
  expect(current()).toEqual(["Models"]);
  expect(nav().getByRole("link", { name: "Prompt lab" }).getAttribute("href")).toBe("/lab");
  expect(screen.getByRole("link", { name: "Skip to the content" }).getAttribute("href")).toBe("#main");
  expect(document.title).toBe("Models · Headscope");
});

it("another page takes the focus, the first one leaves it to the browser", async () => {
  answering({ "GET /api/v1/models": [model()], "GET /api/v1/tasks": [] });
  openPage("/models");
  await screen.findByText("Tiny");
  expect(document.activeElement).toBe(document.body);
  fireEvent.click(nav().getByRole("link", { name: "Tasks" }));
  expect(here()).toBe("/tasks");
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("main")));
  expect(current()).toEqual(["Tasks"]);
  // Back is a step of the browser's own history.
  act(() => window.history.back());
  await waitFor(() => expect(here()).toBe("/models"));
  await waitFor(() => expect(current()).toEqual(["Models"]));
});

it("an address that leads nowhere says so, with ways on", () => {
  answering({});
  openPage("/nothing/here");
  expect(screen.getByText("There is no page at /nothing/here.")).toBeTruthy();
  expect(screen.getByRole("link", { name: "All runs" }).getAttribute("href")).toBe("/runs");
});

it("there is nothing to export or share before something is shown", async () => {
  playLab();
  openPage("/lab");
  expect(screen.queryByRole("button", { name: "Export" })).toBeNull();
  await screen.findByRole("region", { name: "Tokens" });
  expect(button("Export")).toBeTruthy();
  expect(button("Share")).toBeTruthy();
});

it("light or dark is the system's until the reader chooses, and is remembered", () => {
  answering({});
  openPage("/nothing");
  act(() => systemDark(true));
  fireEvent.click(button("Light or dark"));
  const choice = (name: RegExp) => screen.getByRole("menuitemradio", { name });
  expect(choice(/system/).getAttribute("aria-checked")).toBe("true");
  fireEvent.click(choice(/Light/));
  expect(document.documentElement.dataset.theme).toBe("light");
  expect(localStorage.getItem("headscope-theme")).toBe("light");
});

it("a server that is silent is said so, until it answers again", async () => {
  const network = answering({ "GET /api/v1/models": [model()] });
  openPage("/models");
  await screen.findByText("Tiny");
  network.answer({
    "GET /api/v1/tasks": () => {
      throw new TypeError("Failed to fetch");
    },
  });
  fireEvent.click(nav().getByRole("link", { name: "Tasks" }));
  const banner = await screen.findByText(/The Headscope server doesn’t answer\. What is shown stays/);
  expect(banner.querySelector("code")?.textContent).toBe("headscope serve");
  expect(document.documentElement.classList.contains("is-offline")).toBe(true);
  network.answer({ "GET /api/v1/tasks": [] });
  fireEvent.click(nav().getByRole("link", { name: "Models" }));
  await waitFor(() => expect(screen.queryByText(/doesn’t answer\. What is shown/)).toBeNull());
  expect(document.documentElement.classList.contains("is-offline")).toBe(false);
});

it("a reader whom the server doesn't know is asked to sign in, where they are", async () => {
  const refused = problem(401, { code: "no-token", detail: "An access token is needed.", remedy: "" });
  const network = answering({ "GET /api/v1/models": refused, "GET /api/v1/theme": refused });
  vi.spyOn(console, "error").mockImplementation(() => {});
  openPage("/models");
  const token = await screen.findByLabelText(/token/i);
  expect(here()).toBe("/models");
  network.answer({
    "POST /api/v1/sign-in": problem(401, { code: "wrong-token", detail: "It is wrong.", remedy: "" }),
  });
  fireEvent.change(token, { target: { value: "guess" } });
  fireEvent.submit(token.closest("form") as HTMLFormElement);
  expect(await screen.findByText("It is wrong.")).toBeTruthy();
  network.answer({
    "POST /api/v1/sign-in": null,
    "GET /api/v1/models": [model()],
    "GET /api/v1/theme": { light: { template: {}, palette: {} }, dark: { template: {}, palette: {} } },
  });
  fireEvent.submit(token.closest("form") as HTMLFormElement);
  expect(await screen.findByText("Tiny")).toBeTruthy();
});
