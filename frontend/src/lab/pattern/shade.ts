// From weights to pixels: one sequential scale from the panel's colour to deep blue, and a grey for the columns
// that don't count in it.
import type { Cells } from "./triangle";

type Colour = readonly [number, number, number];

export interface Ramp {
  /** The scale's colours at 0 … 255, and the greys of columns left out. */
  blues: Colour[];
  greys: Colour[];
}

function between(stops: readonly Colour[], at: number): Colour {
  const place = Math.min(Math.max(at, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  const [from, to] = [stops[low], stops[low + 1]] as [Colour, Colour];
  const mix = (i: 0 | 1 | 2) => Math.round(from[i] + (to[i] - from[i]) * (place - low));
  return [mix(0), mix(1), mix(2)];
}

const LIGHT: readonly Colour[] = [
  [255, 255, 255],
  [201, 220, 236],
  [94, 146, 190],
  [11, 60, 110],
];
const DARK: readonly Colour[] = [
  [27, 30, 36],
  [38, 66, 94],
  [75, 138, 192],
  [205, 231, 250],
];
const LIGHT_GREY: readonly Colour[] = [
  [255, 255, 255],
  [214, 211, 203],
];
const DARK_GREY: readonly Colour[] = [
  [27, 30, 36],
  [66, 70, 79],
];

export function ramp(theme: "light" | "dark"): Ramp {
  const [blues, greys] = theme === "light" ? [LIGHT, LIGHT_GREY] : [DARK, DARK_GREY];
  const steps = (stops: readonly Colour[]) => Array.from({ length: 256 }, (_, i) => between(stops, i / 255));
  return { blues: steps(blues), greys: steps(greys) };
}

/** Weak weights are lifted a little: a stripe of a tenth is still seen. */
const GAMMA = 0.75;

/** The weakest strongest cell: a head that looks nowhere in particular stays pale. */
const FAINTEST = 0.08;

/** The weight that gets the deepest colour: the largest outside the columns left out. */
export function deepest({ side, weights }: Cells, out: ReadonlySet<number>): number {
  let most = FAINTEST;
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      const weight = weights[row * side + column] ?? 0;
      if (weight > most && !out.has(column)) most = weight;
    }
  }
  return most;
}

/** RGBA of the cells, `side × side`; above the diagonal transparent. */
export function shaded(
  cells: Cells,
  out: ReadonlySet<number>,
  { blues, greys }: Ramp,
): Uint8ClampedArray<ArrayBuffer> {
  const { side, weights } = cells;
  const most = deepest(cells, out);
  const pixels = new Uint8ClampedArray(side * side * 4);
  for (let at = 0; at < weights.length; at += 1) {
    const weight = weights[at] ?? Number.NaN;
    if (Number.isNaN(weight)) continue;
    const left = out.has(at % side);
    const colour = (left ? greys : blues)[
      Math.min(255, Math.round(255 * (left ? weight : (weight / most) ** GAMMA)))
    ];
    if (!colour) continue;
    pixels[at * 4] = colour[0];
    pixels[at * 4 + 1] = colour[1];
    pixels[at * 4 + 2] = colour[2];
    pixels[at * 4 + 3] = 255;
  }
  return pixels;
}

/** The columns left out of the scale: the first token's, and those of special tokens where a cell is one token. */
export function columnsOut(
  tokens: readonly { special: boolean }[],
  block: number,
  sink: boolean,
): Set<number> {
  if (sink) return new Set();
  const special = block > 1 ? [] : tokens.flatMap((token, i) => (token.special ? [i] : []));
  return new Set([0, ...special]);
}
