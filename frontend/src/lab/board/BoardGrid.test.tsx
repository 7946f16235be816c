// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { allOpen, set } from "../state/gates";
import { BoardGrid } from "./BoardGrid";

afterEach(cleanup);
// Neither is there without a layout.
HTMLElement.prototype.setPointerCapture = () => {};
document.elementFromPoint = () => null;

const sizes = { layers: 3, heads: 2 };

function board(more: Partial<Parameters<typeof BoardGrid>[0]> = {}) {
  const heard = { onMarked: vi.fn(), onGates: vi.fn(), onSelect: vi.fn() };
  const gates = allOpen(sizes);
  render(
    <BoardGrid
      sizes={sizes}
      kvHeads={2}
      gates={gates}
      strengths={null}
      marked={new Set()}
      selecting={false}
      readOnly={false}
      {...heard}
      {...more}
    />,
  );
  return { ...heard, gates, grid: screen.getByRole("grid") };
}

const cell = (name: string) => screen.getByRole("gridcell", { name: new RegExp(`^${name},`) });
const at = (clientY: number) => ({ button: 0, clientX: 0, clientY, pointerId: 1 });

it("mutes a head by a click, and selects it", () => {
  const { onGates, onSelect, gates } = board();
  fireEvent.pointerDown(cell("1.1"), at(50));
  fireEvent.pointerUp(cell("1.1"), at(50));
  expect(onGates).toHaveBeenCalledExactlyOnceWith(set(gates, [3], 0), true);
  expect(onSelect).toHaveBeenCalledExactlyOnceWith({ layer: 1, head: 1 });
});

it("sets all selected heads by one drag, which is one step", () => {
  const { onGates, gates } = board({ marked: new Set([0, 3]) });
  fireEvent.pointerDown(cell("1.1"), at(50));
  fireEvent.pointerMove(cell("1.1"), at(52));
  expect(onGates).not.toHaveBeenCalled();
  fireEvent.pointerMove(cell("1.1"), at(80));
  expect(onGates).toHaveBeenLastCalledWith(set(gates, [0, 3], 0.7), false);
  fireEvent.pointerUp(cell("1.1"), at(90));
  expect(onGates).toHaveBeenLastCalledWith(set(gates, [0, 3], 0.6), true);
});

it("puts the gates back where a drag is broken off", () => {
  const { onGates, gates } = board();
  fireEvent.pointerDown(cell("0.0"), at(0));
  fireEvent.pointerMove(cell("0.0"), at(40));
  fireEvent.pointerCancel(cell("0.0"), at(40));
  expect(onGates).toHaveBeenLastCalledWith(gates, true);
});

it("adds a head to the selection, or takes it out, by Shift and a click", () => {
  const { onMarked, onGates } = board({ marked: new Set([2, 3]) });
  for (const name of ["0.1", "1.1"]) {
    fireEvent.pointerDown(cell(name), { ...at(0), shiftKey: true });
    fireEvent.pointerUp(cell(name), at(0));
  }
  expect(onMarked.mock.calls).toEqual([[[2, 3, 1]], [[2]]]);
  expect(onGates).not.toHaveBeenCalled();
});

it("walks by arrows, and acts where it stands", () => {
  const { grid, onGates, onMarked, onSelect, gates } = board();
  for (const key of ["ArrowRight", "ArrowDown", "ArrowDown"]) fireEvent.keyDown(grid, { key });
  expect(document.activeElement).toBe(cell("1.1"));
  fireEvent.keyDown(grid, { key: "-" });
  expect(onGates).toHaveBeenLastCalledWith(set(gates, [3], 0.9), true);
  fireEvent.keyDown(grid, { key: "s" });
  expect(onGates).toHaveBeenLastCalledWith(set(set(gates, [0, 1, 2, 3, 4, 5], 0), [3], 1), true);
  fireEvent.keyDown(grid, { key: "l" });
  expect(onMarked).toHaveBeenLastCalledWith([2, 3]);
  fireEvent.keyDown(grid, { key: "ArrowRight", shiftKey: true });
  expect(onMarked).toHaveBeenLastCalledWith([3, 5]);
  fireEvent.keyDown(grid, { key: "Enter" });
  expect(onSelect).toHaveBeenCalledExactlyOnceWith({ layer: 2, head: 1 });
});

it("leaves a key alone that it has no use for", () => {
  const { grid } = board();
  expect(fireEvent.keyDown(grid, { key: "m" })).toBe(false);
  expect(fireEvent.keyDown(grid, { key: "Escape" })).toBe(true);
  expect(fireEvent.keyDown(grid, { key: "q" })).toBe(true);
  expect(fireEvent.keyDown(grid, { key: "m", ctrlKey: true })).toBe(true);
});

it("sets nothing where it is read only", () => {
  const { grid, onGates, onSelect } = board({ readOnly: true });
  fireEvent.pointerDown(cell("2.0"), at(0));
  fireEvent.pointerUp(cell("2.0"), at(0));
  fireEvent.keyDown(grid, { key: "m" });
  expect(onGates).not.toHaveBeenCalled();
  expect(onSelect).toHaveBeenCalledExactlyOnceWith({ layer: 2, head: 0 });
});
