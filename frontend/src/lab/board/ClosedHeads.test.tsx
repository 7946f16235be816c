// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { playLab } from "../../testing/lab";
import { inAddress, openPage } from "../../testing/page";

const GATES = "POST /api/v1/lab/gates";
const task = (name: string) => ({ name, title: name });
const TASKS = { "GET /api/v1/tasks": [task("induction"), task("antonym")] };

async function open(address = "/lab") {
  const network = playLab(TASKS);
  openPage(address);
  const picker = await screen.findByRole<HTMLSelectElement>("combobox", { name: /a closed head gives/ });
  return { network, picker };
}

describe("what a closed head gives", () => {
  it("is nothing at first, and nothing is asked of it", async () => {
    const { network, picker } = await open();
    expect(picker.value).toBe("zero");
    await waitFor(() => expect(network.asked(GATES).length).toBeGreaterThan(0));
    expect(network.asked(GATES).at(-1)?.body).not.toHaveProperty("ablation");
    expect(screen.queryByRole("combobox", { name: /whose rows/ })).toBeNull();
  });

  it("is a mean over the rows of a task that the reader picks: asked for, and in the address", async () => {
    const { network, picker } = await open();
    fireEvent.change(picker, { target: { value: "mean" } });
    expect(inAddress("closed")).toBe("mean:induction");
    const rows = await screen.findByRole<HTMLSelectElement>("combobox", { name: /whose rows/ });
    await waitFor(() => expect(rows.options.length).toBe(2));
    fireEvent.change(rows, { target: { value: "antonym" } });
    expect(inAddress("closed")).toBe("mean:antonym");
    await waitFor(() =>
      expect(network.asked(GATES).at(-1)?.body).toMatchObject({ ablation: "mean", reference: "antonym" }),
    );
    fireEvent.change(picker, { target: { value: "zero" } });
    expect(inAddress("closed")).toBeNull();
  });

  it("comes back with a link", async () => {
    const { network, picker } = await open("/lab?closed=resample:antonym&mute=1.3");
    expect(picker.value).toBe("resample");
    await waitFor(() =>
      expect(network.asked(GATES).at(-1)?.body).toMatchObject({ ablation: "resample", reference: "antonym" }),
    );
  });
});
