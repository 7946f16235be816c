// Plotly as a test has it: it keeps what it is given to draw, and says what a pointer would. Drawing needs a browser's layout.
// A test that draws says: vi.mock("plotly.js-cartesian-dist-min", () => import("../testing/plotly"))
import { act } from "@testing-library/react";
import type { Figure } from "../api/types";

type Listener = (event: unknown) => void;

interface Drawing {
  data: Record<string, unknown>[];
  layout: Record<string, unknown>;
  listeners: Map<string, Listener>;
}

const drawings = new Map<Element, Drawing>();

/** Pictures that were saved as files. */
export const images: { figure: Figure; options: Record<string, unknown> }[] = [];

export default {
  async react(target: HTMLElement, data: Drawing["data"], layout: Drawing["layout"]) {
    const listeners = drawings.get(target)?.listeners ?? new Map<string, Listener>();
    drawings.set(target, { data, layout, listeners });
    return Object.assign(target, {
      on: (name: string, listener: Listener) => listeners.set(name, listener),
      removeAllListeners: (name: string) => listeners.delete(name),
    });
  },
  purge: (target: HTMLElement) => drawings.delete(target),
  async downloadImage(figure: Figure, options: Record<string, unknown>) {
    images.push({ figure, options });
  },
};

/** What is drawn inside an element; undefined before anything is. */
export function drawingIn(element: Element): Drawing | undefined {
  return [...drawings].find(([target]) => element.contains(target))?.[1];
}

/** A pointer on a point of a drawing: "click", "hover" or "unhover". */
export function point(
  element: Element,
  name: string,
  at: Record<string, unknown> = {},
  x = 100,
  y = 300,
): void {
  const event = { points: [{ curveNumber: 0, pointNumber: 0, ...at }], event: { clientX: x, clientY: y } };
  act(() => drawingIn(element)?.listeners.get(`plotly_${name}`)?.(event));
}
