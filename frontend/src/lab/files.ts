// Gates as files: JSON and CSV for people, safetensors for programs.
import { type GateState, type Sizes, toRows } from "./gates";

export interface NamedGates {
  name: string;
  model: string;
  /** Of the model's weights; empty where it isn't known. */
  revision: string;
  gates: GateState;
  sizes: Sizes;
}

export function gatesJson({ name, model, revision, gates, sizes }: NamedGates): string {
  return `${JSON.stringify({ name, model, revision, gates: toRows(gates, sizes) }, null, 1)}\n`;
}

export function gatesCsv({ gates, sizes }: Pick<NamedGates, "gates" | "sizes">): string {
  const lines = toRows(gates, sizes).flatMap((row, layer) =>
    row.map((gate, head) => `${layer},${head},${gate}`),
  );
  return `${["layer,head,gate", ...lines].join("\n")}\n`;
}

/** One tensor `gates`, float32 [layers, heads]; https://huggingface.co/docs/safetensors. */
export function gatesSafetensors({
  name,
  model,
  revision,
  gates,
  sizes,
}: NamedGates): Uint8Array<ArrayBuffer> {
  const header = JSON.stringify({
    __metadata__: { name, model, revision },
    gates: { dtype: "F32", shape: [sizes.layers, sizes.heads], data_offsets: [0, 4 * gates.length] },
  });
  const words = new TextEncoder().encode(header);
  const padded = Math.ceil(words.length / 8) * 8;
  const file = new Uint8Array(8 + padded + 4 * gates.length).fill(0x20);
  const view = new DataView(file.buffer);
  view.setBigUint64(0, BigInt(padded), true);
  file.set(words, 8);
  for (const [i, gate] of gates.entries()) view.setFloat32(8 + padded + 4 * i, gate, true);
  return file;
}

/** A cell of CSV, quoted where it has to be. */
export function cell(value: string | number): string {
  const text = String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Give the reader a file. */
export function save(content: BlobPart, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A name that any file system takes. */
export function fileName(name: string, ending: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return `${plain || "gates"}.${ending}`;
}
