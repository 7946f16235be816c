// All heads' small pictures, each made when it first comes into sight, a few dozen to a canvas. A canvas a head
// would cost more than what is painted on it; one canvas for all would be copied whole at each addition, since what
// was drawn from it still needs its old pixels.

import { columnsOut, type Ramp, shaded } from "../pattern/shade";
import { thumbCells } from "../pattern/triangle";
import type { Look } from "../state/look";

/** A small picture's place in the canvas that holds it. */
export interface Thumb {
  image: HTMLCanvasElement;
  x: number;
  y: number;
  /** Pixels a side: one a cell. */
  side: number;
}

/** Pictures a side of a canvas. */
const ACROSS = 6;

export class ThumbnailCache {
  private readonly pages: CanvasRenderingContext2D[] = [];
  private readonly made = new Map<number, Thumb>();
  private readonly out: ReadonlySet<number>;

  constructor(
    private readonly look: Look,
    sink: boolean,
    private readonly colours: Ramp,
  ) {
    this.out = columnsOut(look.tokens, look.thumbs.block, sink);
  }

  has(head: number): boolean {
    return this.made.has(head);
  }

  /** The picture of a head, made where it isn't there yet; null where the browser gives no canvas. */
  of(head: number): Thumb | null {
    return this.made.get(head) ?? this.make(head);
  }

  private make(head: number): Thumb | null {
    const { size, block, values } = this.look.thumbs;
    const slot = this.made.size % ACROSS ** 2;
    const page = slot === 0 ? this.add(size * ACROSS) : this.pages.at(-1);
    if (!page) return null;
    const [x, y] = [(slot % ACROSS) * size, Math.floor(slot / ACROSS) * size];
    const pixels = shaded(thumbCells(values, head, size, block), this.out, this.colours);
    page.putImageData(new ImageData(pixels, size, size), x, y);
    const thumb = { image: page.canvas, x, y, side: size };
    this.made.set(head, thumb);
    return thumb;
  }

  private add(side: number): CanvasRenderingContext2D | null {
    const canvas = document.createElement("canvas");
    canvas.width = side;
    canvas.height = side;
    // Pixels come from the processor: kept there, writing them waits for no graphics device.
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (context) this.pages.push(context);
    return context;
  }
}
