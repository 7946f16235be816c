// A file's text as the server reads it: UTF-8, or UTF-16 where its mark says so, without the mark.
export async function textOf(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const [first, second] = bytes;
  const little = first === 0xff && second === 0xfe;
  const big = first === 0xfe && second === 0xff;
  return new TextDecoder(little ? "utf-16le" : big ? "utf-16be" : "utf-8").decode(bytes);
}
