import type { Head } from "../../url/view";
import type { GateState, Sizes } from "../state/gates";

export interface BoardGridProps {
  sizes: Sizes;
  kvHeads: number;
  gates: GateState;
  /** How strong each head is on this prompt, in [0, 1]. */
  strengths: Float32Array | null;
  /** The selected heads: what is set moves all of them. */
  marked: ReadonlySet<number>;
  selecting: boolean;
  /** Nothing can be set; a click selects. */
  readOnly: boolean;
  onMarked: (marked: readonly number[]) => void;
  onGates: (next: GateState, step: boolean) => void;
  onSelect: (head: Head) => void;
}

/** The heads that an action at a cell is about: all selected ones where it is among them, else itself. */
export function targets({ marked }: Pick<BoardGridProps, "marked">, at: number): readonly number[] {
  return marked.has(at) ? [...marked] : [at];
}
