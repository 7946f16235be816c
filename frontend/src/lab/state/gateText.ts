// Many gates as a short text for an address: base64url of a byte a head where all are hundredths, as a hand sets
// them, else of their float32 values, as a run finds them. Gates are no private text: they may stand in a link.
import type { GateState } from "./gates";

const HUNDREDTHS = "~h";
const FLOATS = "~f";

export function packed(gates: GateState): string {
  const hundredths = Uint8Array.from(gates, (value) => Math.round(value * 100));
  if (gates.every((value, i) => Math.fround((hundredths[i] ?? 0) / 100) === value))
    return HUNDREDTHS + base64url(hundredths);
  const view = new DataView(new ArrayBuffer(gates.length * 4));
  gates.forEach((value, i) => void view.setFloat32(i * 4, value, true));
  return FLOATS + base64url(new Uint8Array(view.buffer));
}

export function isPacked(text: string): boolean {
  return text.startsWith(HUNDREDTHS) || text.startsWith(FLOATS);
}

/** The gates of a packed text; null where it isn't one of so many gates, all from 0 to 1. */
export function unpacked(text: string, count: number): GateState | null {
  const bytes = bytesOf(text.slice(2));
  if (!bytes) return null;
  const gates = text.startsWith(HUNDREDTHS) ? Float32Array.from(bytes, (byte) => byte / 100) : floats(bytes);
  return gates?.length === count && gates.every((value) => value >= 0 && value <= 1) ? gates : null;
}

function floats(bytes: Uint8Array<ArrayBuffer>): GateState | null {
  if (bytes.length % 4 !== 0) return null;
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(i * 4, true));
}

function base64url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(plain, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
