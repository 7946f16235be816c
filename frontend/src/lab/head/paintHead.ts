// One head large: its pattern with the tokens on both sides, and lines for the selected token.
import { cssColour, fitted } from "../pattern/raster";

export interface Axes {
  /** Left margin for the queries' names, top margin for the keys'. */
  left: number;
  top: number;
  /** The square of cells. */
  side: number;
  /** CSS pixels a token. */
  step: number;
}

const LEAST_STEP = 11;
const MARGIN = 84;
const TOP = 76;

/** The pattern's square in a width; names have room where a token is at least a line high. */
export function axesFor(width: number, tokens: number): Axes {
  const most = Math.min(width, 640);
  const margin = width < 420 ? 56 : MARGIN;
  const side = Math.max(120, most - margin);
  return { left: margin, top: width < 420 ? 56 : TOP, side, step: side / Math.max(1, tokens) };
}

/** Which tokens are named on the axes: all, or evenly spread ones with the selected token. */
export function named(tokens: number, step: number): number[] {
  const every = Math.max(1, Math.ceil(LEAST_STEP / step));
  return Array.from({ length: Math.ceil(tokens / every) }, (_, i) => i * every);
}

export interface HeadPicture {
  cells: HTMLCanvasElement;
  axes: Axes;
  names: readonly string[];
  token: number | null;
  locked: readonly number[];
}

export function paintHead(
  canvas: HTMLCanvasElement,
  { cells, axes, names, token, locked }: HeadPicture,
): void {
  const { left, top, side, step } = axes;
  const context = fitted(canvas, left + side, top + side);
  if (!context) return;
  context.clearRect(0, 0, left + side, top + side);
  context.fillStyle = cssColour("--panel");
  context.fillRect(left, top, side, side);
  context.imageSmoothingEnabled = cells.width > side * (window.devicePixelRatio || 1);
  context.drawImage(cells, left, top, side, side);
  context.strokeStyle = cssColour("--line");
  context.strokeRect(left + 0.5, top + 0.5, side - 1, side - 1);
  const held = new Set(locked);
  if (token !== null) held.add(token);
  lines(context, axes, token, locked);
  context.font = `${Math.min(12, Math.max(9, step * 0.8))}px "JetBrains Mono Variable", ui-monospace, monospace`;
  context.letterSpacing = "0.01px"; // no ligatures: "<|" stays what it is
  context.textBaseline = "middle";
  const shown = [...new Set([...named(names.length, step), ...held])];
  // The selected name clears the room of its neighbours.
  const free = shown.filter(
    (at) => held.has(at) || ![...held].some((one) => Math.abs(one - at) * step < LEAST_STEP),
  );
  for (const at of free) label(context, axes, names[at] ?? "", at, held.has(at));
}

function lines(
  context: CanvasRenderingContext2D,
  axes: Axes,
  token: number | null,
  locked: readonly number[],
): void {
  const { left, top, step } = axes;
  context.strokeStyle = cssColour("--accent");
  for (const at of new Set(token === null ? locked : [...locked, token])) {
    context.lineWidth = at === token ? 1.5 : 1;
    // Its row up to the diagonal: where it looks. Its column from there down: who looks at it.
    context.strokeRect(left, top + at * step, (at + 1) * step, step);
    context.setLineDash([3, 3]);
    context.strokeRect(left + at * step, top + at * step, step, axes.side - at * step);
    context.setLineDash([]);
  }
}

function label(context: CanvasRenderingContext2D, axes: Axes, name: string, at: number, held: boolean): void {
  const middle = (at + 0.5) * axes.step;
  context.fillStyle = cssColour(held ? "--ink" : "--muted");
  context.textAlign = "right";
  context.fillText(name, axes.left - 6, axes.top + middle);
  context.save();
  context.translate(axes.left + middle, axes.top - 6);
  context.rotate(-Math.PI / 2);
  context.textAlign = "left";
  context.fillText(name, 0, 0);
  context.restore();
}
