import { useRef } from "react";
import { gateWords } from "../state/gates";
import type { BoardGridProps } from "./gridProps";
import { GateCells, HeadCells } from "./HeadCells";
import { useGridKeys } from "./useGridKeys";
import { useGridPointer } from "./useGridPointer";

/** All heads as cells: click mutes, drag up or down sets, a box takes several, and the same by keyboard. */
export function BoardGrid(props: BoardGridProps) {
  const { sizes } = props;
  const grid = useRef<HTMLDivElement>(null);
  const { cursor, setCursor, onKeyDown } = useGridKeys(grid, props);
  const pointer = useGridPointer(grid, props, setCursor);
  return (
    <HeadCells sizes={sizes} kvHeads={props.kvHeads}>
      {/* biome-ignore lint/a11y/useSemanticElements: a table can't be laid out by columns */}
      <div
        ref={grid}
        role="grid"
        className={props.selecting ? "cells-grid gates selecting" : "cells-grid gates"}
        aria-label={`Gates of ${sizes.layers} layers of ${sizes.heads} heads. Arrow keys move, m mutes, plus and minus set, s solos a head, l selects a layer, Shift with arrows selects several.`}
        aria-multiselectable="true"
        aria-rowcount={sizes.heads}
        aria-colcount={sizes.layers}
        onKeyDown={onKeyDown}
        {...pointer}
      >
        <GateCells
          sizes={sizes}
          gates={props.gates}
          strengths={props.strengths}
          marked={props.marked}
          cursor={cursor}
          words={gateWords}
        />
      </div>
    </HeadCells>
  );
}
