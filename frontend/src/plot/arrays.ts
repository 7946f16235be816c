// Typed arrays as the server sends them: base64, little-endian, with dtype and shape. NaN survives.
import type { TypedArray } from "../api/types";

const KINDS = {
  i1: Int8Array,
  u1: Uint8Array,
  i2: Int16Array,
  u2: Uint16Array,
  i4: Int32Array,
  u4: Uint32Array,
  f4: Float32Array,
  f8: Float64Array,
} as const;

type Values = InstanceType<(typeof KINDS)[keyof typeof KINDS]>;

export interface NumberArray {
  shape: number[];
  values: Values;
}

/** Thrown where the server sent something that isn't the array it says it is. */
export class ArrayError extends Error {}

export function isTypedArray(value: unknown): value is TypedArray {
  return typeof value === "object" && value !== null && "bdata" in value && "dtype" in value;
}

// A loop: a megabyte through a callback a byte takes ten times as long.
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export function decode({ dtype, bdata, shape }: TypedArray): NumberArray {
  const kind = KINDS[dtype.replace(/^[<|=]/, "") as keyof typeof KINDS];
  if (!kind) throw new ArrayError(`Arrays of dtype ${dtype} can't be read.`);
  const bytes = bytesOf(bdata);
  if (bytes.length % kind.BYTES_PER_ELEMENT !== 0) throw new ArrayError("An array's bytes are incomplete.");
  const values = new kind(bytes.buffer);
  const sizes = shape ? shape.split(",").map(Number) : [values.length];
  const expected = sizes.reduce((product, size) => product * size, 1);
  if (expected !== values.length) {
    throw new ArrayError(`An array of shape ${sizes.join(" × ")} came with ${values.length} values.`);
  }
  return { shape: sizes, values };
}

/** Any array in a figure (typed or a plain list) as numbers; other values become NaN. */
export function numbersOf(value: unknown): number[] {
  if (isTypedArray(value)) return Array.from(decode(value).values);
  if (Array.isArray(value)) return value.flat().map((item) => (typeof item === "number" ? item : Number.NaN));
  return [];
}
