import { type CSSProperties, memo, type ReactNode } from "react";
import { headName } from "../../url/view";
import { headAt, type Sizes } from "../state/gates";

/** Which cells have a bracket: query heads that share one key and value head. */
function groups({ heads }: Sizes, kvHeads: number): [number, number][] {
  const size = kvHeads > 0 ? heads / kvHeads : 1;
  if (size <= 1 || !Number.isInteger(size)) return [];
  return Array.from({ length: kvHeads }, (_, group) => [group * size, size]);
}

interface HeadCellsProps {
  sizes: Sizes;
  kvHeads: number;
  /** The cells, head by head within a layer; each is one grid item. */
  children: ReactNode;
}

/** The layer × head grid: layers from left to right, brackets round the heads that share keys and values. */
export function HeadCells({ sizes, kvHeads, children }: HeadCellsProps) {
  const brackets = groups(sizes, kvHeads);
  const step = sizes.layers > 16 ? 5 : sizes.layers > 8 ? 2 : 1;
  const style = { "--layers": sizes.layers, "--heads": sizes.heads } as CSSProperties;
  return (
    <div className="cells" style={style}>
      <div className="cells-heads" aria-hidden="true">
        {brackets.map(([first, size]) => (
          <i key={first} style={{ gridRow: `${first + 1} / span ${size}` }} />
        ))}
        <span style={{ gridRow: 1 }}>0</span>
        {sizes.heads > 1 && <span style={{ gridRow: sizes.heads }}>{sizes.heads - 1}</span>}
      </div>
      {children}
      <div className="cells-layers" aria-hidden="true">
        {Array.from({ length: sizes.layers }, (_, layer) => layer)
          .filter((layer) => layer % step === 0)
          .map((layer) => (
            <span key={layer} style={{ gridColumn: layer + 1 }}>
              {layer}
            </span>
          ))}
      </div>
    </div>
  );
}

interface CellProps {
  at: number;
  name: string;
  /** What a screen reader hears after the head's name. */
  words: string;
  gate: number;
  /** How strong the head is, in [0, 1]; NaN draws nothing. */
  strength: number;
  marked: boolean;
  focusable: boolean;
  column: number;
  row: number;
}

const Cell = memo(function Cell({
  at,
  name,
  words,
  gate,
  strength,
  marked,
  focusable,
  column,
  row,
}: CellProps) {
  const style = {
    gridColumn: column,
    gridRow: row,
    "--closed": `${Math.round((1 - gate) * 100)}%`,
    "--strength": `${Math.round((Number.isFinite(strength) ? strength : 0) * 100)}%`,
  } as CSSProperties;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table can't be laid out by columns
    <span
      role="gridcell"
      data-at={at}
      className={gate === 0 ? "cell muted-head" : gate < 1 ? "cell changed-head" : "cell"}
      tabIndex={focusable ? 0 : -1}
      aria-label={`${name}, ${words}`}
      aria-selected={marked}
      style={style}
    />
  );
});

interface GateCellsProps {
  sizes: Sizes;
  gates: Float32Array;
  strengths: Float32Array | null;
  marked: ReadonlySet<number>;
  cursor: number;
  words: (gate: number) => string;
}

/** One cell a head, row by row as a screen reader goes through them. */
export const GateCells = memo(function GateCells({
  sizes,
  gates,
  strengths,
  marked,
  cursor,
  words,
}: GateCellsProps) {
  return Array.from({ length: sizes.heads }, (_, row) => (
    // biome-ignore lint/a11y/useSemanticElements: a table can't be laid out by columns
    // biome-ignore lint/a11y/useFocusableInteractive: the cells take the focus
    <div role="row" className="cells-row" key={row}>
      {Array.from({ length: sizes.layers }, (_, layer) => {
        const at = layer * sizes.heads + row;
        const { layer: l, head } = headAt(sizes, at);
        return (
          <Cell
            key={at}
            at={at}
            name={headName({ layer: l, head })}
            words={words(gates[at] ?? 1)}
            gate={gates[at] ?? 1}
            strength={strengths?.[at] ?? Number.NaN}
            marked={marked.has(at)}
            focusable={at === cursor}
            column={layer + 1}
            row={row + 1}
          />
        );
      })}
    </div>
  ));
});
