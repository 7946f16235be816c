// Small pictures of patterns, made once each and kept while the look, the scale and the theme stay.
import { type Ramp, shaded } from "./shade";
import type { Cells } from "./triangle";

/** A canvas with one pixel a cell. */
export function raster(cells: Cells, out: ReadonlySet<number>, colours: Ramp): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = cells.side;
  canvas.height = cells.side;
  canvas
    .getContext("2d")
    ?.putImageData(new ImageData(shaded(cells, out, colours), cells.side, cells.side), 0, 0);
  return canvas;
}

/** Fit a canvas to its box on this screen; a context whose unit is the CSS pixel. */
export function fitted(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** A colour of the page's theme, e.g. "--muted". */
export function cssColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
