// The contact sheet of all heads on one canvas: only the rows in sight are painted, a few milliseconds a frame.
import { measured } from "../../format/numbers";
import { cssColour, fitted } from "../pattern/raster";
import { LABEL, type Sheet } from "./order";
import type { Thumb } from "./thumbnailCache";

export interface SheetPicture {
  sheet: Sheet;
  /** Heads in their order. */
  order: readonly number[];
  name: (at: number) => string;
  score: (at: number) => number | null;
  muted: (at: number) => boolean;
  selected: number | null;
  hovered: number | null;
  /** The small picture of a head; null where it isn't made and there is no time left in this frame. */
  picture: (at: number) => Thumb | null;
}

interface Window {
  top: number;
  width: number;
  height: number;
}

interface Palette {
  panel: string;
  line: string;
  ink: string;
  muted: string;
  accent: string;
}

const palette = (): Palette => ({
  panel: cssColour("--panel"),
  line: cssColour("--line"),
  ink: cssColour("--ink"),
  muted: cssColour("--muted"),
  accent: cssColour("--accent"),
});

/** Paint what is in sight; false where some pictures are still to be made. */
export function paintSheet(
  canvas: HTMLCanvasElement,
  drawn: SheetPicture,
  { top, width, height }: Window,
): boolean {
  const context = fitted(canvas, width, height);
  if (!context) return true;
  const { sheet, order } = drawn;
  const colours = palette();
  context.clearRect(0, 0, width, height);
  context.font = '12px "Inter Variable", Inter, system-ui, sans-serif';
  context.textBaseline = "middle";
  const first = Math.max(0, Math.floor(top / sheet.rowHeight));
  const last = Math.min(sheet.rows - 1, Math.floor((top + height) / sheet.rowHeight));
  let complete = true;
  for (let place = first * sheet.columns; place < (last + 1) * sheet.columns; place += 1) {
    const at = order[place];
    if (at === undefined) break;
    const x = (place % sheet.columns) * (sheet.side + sheet.gap);
    const y = Math.floor(place / sheet.columns) * sheet.rowHeight - top;
    if (!paintThumb(context, drawn, at, x, y, colours)) complete = false;
    paintLabel(context, drawn, at, x, y, colours);
  }
  return complete;
}

function frame(context: CanvasRenderingContext2D, x: number, y: number, side: number, radius: number): void {
  context.beginPath();
  context.roundRect(x, y, side, side, radius);
}

function paintThumb(
  context: CanvasRenderingContext2D,
  drawn: SheetPicture,
  at: number,
  x: number,
  y: number,
  colours: Palette,
): boolean {
  const { side } = drawn.sheet;
  const picture = drawn.picture(at);
  context.save();
  frame(context, x + 0.5, y + 0.5, side - 1, 4);
  context.fillStyle = colours.panel;
  context.fill();
  if (picture) {
    context.clip();
    context.globalAlpha = drawn.muted(at) ? 0.25 : 1;
    const { image, side: cells } = picture;
    context.imageSmoothingEnabled = cells > side * (window.devicePixelRatio || 1);
    context.drawImage(image, picture.x, picture.y, cells, cells, x, y, side, side);
  }
  context.restore();
  const chosen = at === drawn.selected;
  frame(context, x + 0.5, y + 0.5, side - 1, 4);
  context.lineWidth = chosen ? 2.5 : 1;
  context.strokeStyle = chosen ? colours.accent : at === drawn.hovered ? colours.muted : colours.line;
  context.stroke();
  return picture !== null;
}

function paintLabel(
  context: CanvasRenderingContext2D,
  drawn: SheetPicture,
  at: number,
  x: number,
  y: number,
  colours: Palette,
): void {
  const { side } = drawn.sheet;
  const middle = y + side + LABEL / 2 + 1;
  const score = drawn.score(at);
  const muted = drawn.muted(at);
  context.fillStyle = at === drawn.selected ? colours.ink : colours.muted;
  const texts: [string, number][] = [[drawn.name(at), x + 1]];
  if (score !== null) {
    const text = Math.abs(score) < 0.005 ? "0.00" : Math.abs(score) < 10 ? score.toFixed(2) : measured(score);
    texts.push([Number.isNaN(score) ? "–" : text, x + side - 1]);
  }
  for (const [i, [text, edge]] of texts.entries()) {
    context.textAlign = i === 0 ? "left" : "right";
    context.fillText(text, edge, middle);
    if (!muted) continue;
    const wide = context.measureText(text).width;
    context.fillRect(i === 0 ? edge : edge - wide, middle, wide, 1);
  }
}
