import { describe, expect, it } from "vitest";
import { textOf } from "./textOf";

const TEXT = "layer;head\r\n0;3 é犬";

function utf16(text: string, little: boolean): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(2 * text.length));
  for (let at = 0; at < text.length; at += 1) view.setUint16(2 * at, text.charCodeAt(at), little);
  return new Uint8Array(view.buffer);
}

describe("a file's text", () => {
  it("is the same in every encoding that has a mark, and in UTF-8 without", async () => {
    for (const bytes of [
      new TextEncoder().encode(TEXT),
      new TextEncoder().encode(`\ufeff${TEXT}`),
      utf16(`\ufeff${TEXT}`, true),
      utf16(`\ufeff${TEXT}`, false),
    ]) {
      expect(await textOf(new Blob([bytes]))).toBe(TEXT);
    }
  });
});
