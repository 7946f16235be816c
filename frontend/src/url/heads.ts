export interface Head {
  layer: number;
  head: number;
}

/** "17.4" is layer 17, head 4; anything else is no head. */
export function parseHead(text: string | null): Head | null {
  const match = /^(\d{1,4})\.(\d{1,4})$/.exec(text ?? "");
  return match ? { layer: Number(match[1]), head: Number(match[2]) } : null;
}

export function headName({ layer, head }: Head): string {
  return `${layer}.${head}`;
}
