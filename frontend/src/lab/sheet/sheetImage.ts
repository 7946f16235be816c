import { headName } from "../../url/heads";
import type { LabSort } from "../../url/lab";
import { cssColour } from "../pattern/raster";
import { ramp } from "../pattern/shade";
import { type GateState, headAt } from "../state/gates";
import { type Look, scoreOf } from "../state/look";
import { ordered, sheet } from "./order";
import { paintSheet } from "./paintSheet";
import { ThumbnailCache } from "./thumbnailCache";

const WIDTH = 1200;
const MARGIN = 16;

/** All heads' patterns as one picture to save, sorted and coloured as on the page. */
export function sheetImage(
  look: Look,
  gates: GateState,
  sort: LabSort,
  sink: boolean,
  theme: "light" | "dark",
): HTMLCanvasElement {
  const order = ordered(look, { sort, least: 0 });
  const laid = sheet(WIDTH, order.length);
  const cache = new ThumbnailCache(look, sink, ramp(theme));
  const scores = scoreOf(look, sort)?.values;
  const painted = document.createElement("canvas");
  const height = laid.rows * laid.rowHeight;
  const drawn = {
    sheet: laid,
    order,
    name: (at: number) => headName(headAt(look, at)),
    score: (at: number) => (scores ? (scores[at] ?? Number.NaN) : null),
    muted: (at: number) => (gates[at] ?? 1) < 0.5,
    selected: null,
    hovered: null,
    picture: (at: number) => cache.of(at),
  };
  paintSheet(painted, drawn, { top: 0, width: WIDTH, height });
  return framed(painted, height);
}

/** On the page's ground, with a margin. */
function framed(painted: HTMLCanvasElement, height: number): HTMLCanvasElement {
  const ratio = painted.width / WIDTH;
  const picture = document.createElement("canvas");
  picture.width = Math.round((WIDTH + 2 * MARGIN) * ratio);
  picture.height = Math.round((height + 2 * MARGIN) * ratio);
  const context = picture.getContext("2d");
  if (!context) return painted;
  context.fillStyle = cssColour("--page");
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(painted, Math.round(MARGIN * ratio), Math.round(MARGIN * ratio));
  return picture;
}
