// The role grid's geometry and stripes: the rule of headscope.figures.head_grid, so that threshold,
// mode and orientation follow the hand. tests/golden/roles.json holds both to the same cases.
import type { Figure, FigureMeta } from "../api/types";
import type { Head, Mode } from "../url/view";
import { BOTH, finishedSeeds, type Gates, HARMFUL, IRRELEVANT, NEEDED, roleCodes, UNDECIDED } from "./roles";

/** Of a cell's width and height, by its verdict: undecided, leans, replicates. */
const FULLNESS = [0.5, 0.75, 1];

/** The code of a gap, and of the stripe of a seed without a fit. */
export const GAP = 5;
const STRIPE_ORDER = [NEEDED, BOTH, UNDECIDED, IRRELEVANT, HARMFUL, GAP];
const RANK = STRIPE_ORDER.reduce<number[]>((rank, code, place) => {
  rank[code] = place;
  return rank;
}, []);

/** What the server says of the geometry in `layout.meta`. */
export type GridMeta = Required<Pick<FigureMeta, Geometry>> &
  Pick<FigureMeta, "words" | "outlined" | "verdicts">;
type Geometry =
  | "layers"
  | "heads"
  | "seeds"
  | "cell_columns"
  | "heads_per_group"
  | "head_y"
  | "gap"
  | "max_width";

export function gridMeta(figure: Figure): GridMeta {
  return figure.layout.meta as GridMeta;
}

function gathered(codes: number[], mode: Exclude<Mode, "every">): number {
  if (codes.length === 0) return GAP;
  const hold = (test: (code: number) => boolean) =>
    mode === "always" ? codes.every(test) : codes.some(test);
  const needed = hold((code) => code === NEEDED || code === BOTH);
  const harmful = hold((code) => code === HARMFUL || code === BOTH);
  if (needed && harmful) return BOTH;
  if (needed) return NEEDED;
  if (harmful) return HARMFUL;
  return hold((code) => code === IRRELEVANT) ? IRRELEVANT : UNDECIDED;
}

/** A cell's stripes from its seeds' codes. `ran` says which seeds have a fit. */
export function cellStripes(codes: readonly number[], ran: readonly boolean[], mode: Mode): number[] {
  if (mode !== "every") {
    const whole = gathered(
      codes.filter((_, seed) => ran[seed]),
      mode,
    );
    return codes.map(() => whole);
  }
  const known = codes.map((code, seed) => (ran[seed] ? code : GAP));
  return known.sort((a, b) => (RANK[a] ?? 0) - (RANK[b] ?? 0));
}

/** Stripes of all cells: `[layer][head][stripe]`. */
export function allStripes(gates: Gates, threshold: number, mode: Mode): number[][][] {
  const codes = roleCodes(gates, threshold);
  const ran = finishedSeeds(gates);
  const size = gates.layers * gates.heads;
  return Array.from({ length: gates.layers }, (_, layer) =>
    Array.from({ length: gates.heads }, (_, head) => {
      const at = layer * gates.heads + head;
      return cellStripes(
        ran.map((_, seed) => codes[seed * size + at] ?? UNDECIDED),
        ran,
        mode,
      );
    }),
  );
}

/** The heatmap's z: cells with gap columns and rows between. Rows are heads, or layers when turned. */
export function heatmapRows(stripes: number[][][], turned: boolean): Uint8Array[] {
  const layers = stripes.length;
  const heads = stripes[0]?.length ?? 0;
  const slots = stripes[0]?.[0]?.length ?? 0;
  const [rows, columns] = turned ? [layers, heads] : [heads, layers];
  const width = columns * (slots + 1) - 1;
  const z: Uint8Array[] = [];
  for (let row = 0; row < rows; row += 1) {
    if (row > 0) z.push(new Uint8Array(width).fill(GAP));
    const line = new Uint8Array(width).fill(GAP);
    for (let column = 0; column < columns; column += 1) {
      line.set((turned ? stripes[row]?.[column] : stripes[column]?.[row]) ?? [], column * (slots + 1));
    }
    z.push(line);
  }
  return z;
}

/** The head under a heatmap point, or null in a gap. */
export function headAt(point: number | [number, number], meta: GridMeta, turned: boolean): Head | null {
  if (typeof point === "number") return null;
  const [row, column] = point;
  if (row % 2 === 1 || column % meta.cell_columns === meta.cell_columns - 1) return null;
  const across = Math.floor(column / meta.cell_columns);
  const head = turned ? { layer: row / 2, head: across } : { layer: across, head: row / 2 };
  return head.layer < meta.layers && head.head < meta.heads ? head : null;
}

/** How much of its cell a head fills: all of it where no verdict is known. */
function fullness({ layer, head }: Head, { verdicts }: GridMeta): number {
  return FULLNESS[Number(verdicts?.[layer]?.[head] ?? 2)] ?? 1;
}

/** Centre of a cell in the axes' units. */
function centre({ layer, head }: Head, meta: GridMeta, turned: boolean): [number, number] {
  const y = meta.head_y[head] ?? head;
  return turned ? [y, layer] : [layer, y];
}

function n(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

function roundRectangle(x: number, y: number, halfX: number, halfY: number, rx: number, ry: number): string {
  const [left, right, top, bottom] = [x - halfX, x + halfX, y - halfY, y + halfY].map(n) as [
    string,
    string,
    string,
    string,
  ];
  return (
    `M${n(x - halfX + rx)} ${top}H${n(x + halfX - rx)}Q${right} ${top} ${right} ${n(y - halfY + ry)}` +
    `V${n(y + halfY - ry)}Q${right} ${bottom} ${n(x + halfX - rx)} ${bottom}` +
    `H${n(x - halfX + rx)}Q${left} ${bottom} ${left} ${n(y + halfY - ry)}` +
    `V${n(y - halfY + ry)}Q${left} ${top} ${n(x - halfX + rx)} ${top}Z`
  );
}

export interface Drawn {
  width: number;
  height: number;
  turned: boolean;
}

type Axis = { range: [number, number] } & Record<string, unknown>;
type Margin = { l: number; r: number; t: number; b: number };

/** Axis units per pixel. */
function scale(layout: Figure["layout"], { width, height }: Drawn): [number, number] {
  const margin = layout.margin as Margin;
  const span = (axis: unknown) => Math.abs((axis as Axis).range[1] - (axis as Axis).range[0]);
  return [
    span(layout.xaxis) / Math.max(1, width - margin.l - margin.r),
    span(layout.yaxis) / Math.max(1, height - margin.t - margin.b),
  ];
}

type Shape = Record<string, unknown> & { name?: string };

/** For a picture to save: the mask as a shape of the figure, with a hairline round each cell. */
export function rounded(figure: Figure, drawn: Drawn, colours: { panel: string; line: string }): Figure {
  const meta = gridMeta(figure);
  const { layout } = figure;
  const [ux, uy] = scale(layout, drawn);
  const halfX = 0.5 - meta.gap[0] / 2;
  const halfY = 0.5 - meta.gap[1] / 2;
  const radius = cornerRadius((2 * halfX) / ux, (2 * halfY) / uy);
  let path = `M-9 -9H${meta.layers + meta.heads + 9}V${(meta.heads + meta.layers) * 2 + 9}H-9Z`;
  for (let head = 0; head < meta.heads; head += 1) {
    for (let layer = 0; layer < meta.layers; layer += 1) {
      const [x, y] = centre({ layer, head }, meta, drawn.turned);
      const full = fullness({ layer, head }, meta);
      path += roundRectangle(x, y, halfX * full, halfY * full, radius * ux, radius * uy);
    }
  }
  const mask: Shape = {
    name: "cells",
    type: "path",
    path,
    fillcolor: colours.panel,
    fillrule: "evenodd",
    line: { color: colours.line, width: 1 },
    layer: "above",
  };
  const others = ((layout.shapes as Shape[] | undefined) ?? []).filter((shape) => shape.name !== "cells");
  return { ...figure, layout: { ...layout, shapes: [mask, ...others] } };
}

/** Where cells lie in a drawing of this size, in pixels: what is laid over it fits exactly. */
export interface Pixels {
  /** Left, top, width, height of the plot itself. */
  plot: [number, number, number, number];
  /** Left, top, width, height of a head's cell. */
  cell: (head: Head) => [number, number, number, number];
}

export function pixelsOf(figure: Figure, drawn: Drawn): Pixels {
  const meta = gridMeta(figure);
  const { layout } = figure;
  const margin = layout.margin as Margin;
  const [ux, uy] = scale(layout, drawn);
  const [left, right] = (layout.xaxis as Axis).range;
  const [bottom, top] = (layout.yaxis as Axis).range;
  const halfX = 0.5 - meta.gap[0] / 2;
  const halfY = 0.5 - meta.gap[1] / 2;
  return {
    plot: [margin.l, margin.t, (right - left) / ux, (bottom - top) / uy],
    cell: (head) => {
      const [x, y] = centre(head, meta, drawn.turned);
      return [
        margin.l + (x - halfX - left) / ux,
        margin.t + (y - halfY - top) / uy,
        (2 * halfX) / ux,
        (2 * halfY) / uy,
      ];
    },
  };
}

/**
 * All cells as one path of round rectangles, as much of them as is filled as another, and the plot's area round
 * them: the mask is the last two, even-odd.
 */
export function cellPaths(figure: Figure, drawn: Drawn): { area: string; cells: string; filled: string } {
  const meta = gridMeta(figure);
  const { plot, cell } = pixelsOf(figure, drawn);
  const [x, y, width, height] = plot;
  let cells = "";
  let filled = "";
  for (let layer = 0; layer < meta.layers; layer += 1) {
    for (let head = 0; head < meta.heads; head += 1) {
      const [left, top, w, h] = cell({ layer, head });
      const full = fullness({ layer, head }, meta);
      const shape = (part: number) => {
        const radius = cornerRadius(part * w, part * h);
        return roundRectangle(left + w / 2, top + h / 2, (part * w) / 2, (part * h) / 2, radius, radius);
      };
      cells += shape(1);
      filled += shape(full);
    }
  }
  return { area: `M${n(x)} ${n(y)}h${n(width)}v${n(height)}h${n(-width)}Z`, cells, filled };
}

/** Round corners of four pixels, less where a cell is small. */
export function cornerRadius(width: number, height: number): number {
  return Math.min(4, 0.3 * width, 0.3 * height);
}

/** Layers from top to bottom: the axes change places. */
export function turned(figure: Figure): Figure {
  const meta = gridMeta(figure);
  const { layout } = figure;
  const halfX = 0.5 - meta.gap[0] / 2;
  const halfY = 0.5 - meta.gap[1] / 2;
  const slots = meta.cell_columns - 1;
  const x = meta.head_y.flatMap((at) =>
    Array.from({ length: slots + 1 }, (_, i) => at - halfX + (2 * halfX * i) / slots),
  );
  const y = Array.from({ length: meta.layers }, (_, layer) => [layer - halfY, layer + halfY]).flat();
  const [across, down] = [layout.xaxis as Axis, layout.yaxis as Axis];
  const shapes = ((layout.shapes as Shape[] | undefined) ?? []).filter((shape) => shape.name !== "kv-groups");
  const margin = layout.margin as Margin;
  const row = Math.min(30, Math.max(15, 560 / meta.layers));
  return {
    data: figure.data.map((trace) => ({ ...trace, x, y })),
    layout: {
      ...layout,
      height: Math.round(74 + row * meta.layers),
      margin: { ...margin, l: 52 },
      xaxis: {
        ...across,
        range: [-0.5, (meta.head_y.at(-1) ?? 0) + 0.5],
        tickvals: down.tickvals,
        ticktext: down.ticktext,
        title: down.title,
      },
      yaxis: {
        ...down,
        ticklen: 6,
        range: [meta.layers - 0.5, -0.5],
        tickvals: across.tickvals,
        ticktext: across.ticktext,
        title: across.title,
      },
      shapes: [...shapes.map((shape) => turnedFrames(shape, meta)), ...acrossBrackets(meta, figure)],
      meta: { ...meta, max_width: 90 + meta.heads * Math.min(150, Math.max(44, 640 / meta.heads)) },
    },
  };
}

function turnedFrames(shape: Shape, meta: GridMeta): Shape {
  if (shape.name !== "outlined") return shape;
  const [halfX, halfY] = [0.5 - meta.gap[0] / 2, 0.5 - meta.gap[1] / 2];
  const frames = (meta.outlined ?? []).map(([layer, head]) => {
    const [x, y] = centre({ layer, head }, meta, true);
    return `M${n(x - halfX)} ${n(y - halfY)}H${n(x + halfX)}V${n(y + halfY)}H${n(x - halfX)}Z`;
  });
  return { ...shape, path: frames.join("") };
}

function acrossBrackets(meta: GridMeta, figure: Figure): Shape[] {
  const group = ((figure.layout.shapes as Shape[] | undefined) ?? []).find(
    (shape) => shape.name === "kv-groups",
  );
  if (!group || meta.heads_per_group < 2) return [];
  const half = 0.5 - meta.gap[0] / 2;
  let path = "";
  for (let first = 0; first < meta.heads; first += meta.heads_per_group) {
    const left = (meta.head_y[first] ?? first) - half;
    const right = (meta.head_y[first + meta.heads_per_group - 1] ?? first) + half;
    path += `M${n(left)} -3V-8H${n(right)}V-3`;
  }
  const { xref: _xref, xanchor: _xanchor, xsizemode: _xsizemode, ...style } = group;
  return [{ ...style, path, yref: "paper", yanchor: 0, ysizemode: "pixel" }];
}
