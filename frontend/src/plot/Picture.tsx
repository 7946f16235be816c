import { type ReactNode, useId, useMemo, useRef, useState } from "react";
import { exportAddress } from "../api/client";
import type { Resource } from "../api/resource";
import type { Figure } from "../api/types";
import { Menu, MenuItem } from "../parts/Menu";
import { ProblemNote } from "../parts/ProblemNote";
import { useTheme } from "../parts/theme";
import { Plot, useWidth } from "./Plot";
import { painted, usePaints } from "./paint";
import { loadPlotly } from "./plotly";
import type { Table } from "./tables";

/** Where a picture's data can be had, and under which name it is saved. */
export interface PictureSource {
  run: string;
  figure: string;
  share: string | null;
  view: Record<string, string | number>;
}

export function TableTwin({ table, caption }: { table: Table; caption: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="table-box" tabIndex={0} aria-label={caption}>
      <table className="table">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {table.columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, i) => (
            <tr key={i}>
              {row.map((value, j) => (
                <td key={j}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Save a drawing as it is on the page, but without the selection. */
async function saveImage(figure: Figure, format: "png" | "svg", filename: string): Promise<void> {
  const plotly = await loadPlotly();
  const width = Number(figure.layout.width) || 900;
  const height = Number(figure.layout.height) || 300;
  await plotly.downloadImage(figure, { format, width, height, filename, scale: format === "png" ? 2 : 1 });
}

export function DownloadMenu({ figure, source }: { figure: Figure | undefined; source: PictureSource }) {
  const name = `headscope-${source.run.slice(0, 8)}-${source.figure}`;
  const address = (format: string) =>
    exportAddress(source.run, { format, figure: source.figure, share: source.share, ...source.view });
  return (
    <Menu label="Download" title="Download this picture or its numbers" quiet>
      <MenuItem disabled={!figure} onSelect={() => figure && saveImage(figure, "png", name)}>
        Picture, PNG
      </MenuItem>
      <MenuItem disabled={!figure} onSelect={() => figure && saveImage(figure, "svg", name)}>
        Picture, SVG
      </MenuItem>
      <MenuItem href={address("csv")}>Numbers, CSV</MenuItem>
      <MenuItem href={address("json")}>Numbers, JSON</MenuItem>
    </Menu>
  );
}

interface PictureProps {
  title: string;
  figure: Resource<Figure>;
  /** The drawing itself, where a plain one isn't enough; it gets the painted figure. */
  children?: ReactNode;
  table: (figure: Figure) => Table;
  source: PictureSource;
  caption?: ReactNode;
  height?: number;
}

/** A card with a picture, its table twin and its downloads. */
export function Picture({ title, figure, table, source, caption, height = 260 }: PictureProps) {
  const heading = useId();
  const [asTable, setAsTable] = useState(false);
  const [drawn, setDrawn] = useState<Figure>();
  return (
    <section className="card picture" aria-labelledby={heading}>
      <header className="picture-head">
        <h3 id={heading}>{title}</h3>
        <PictureTools asTable={asTable} setAsTable={setAsTable}>
          <DownloadMenu figure={drawn} source={source} />
        </PictureTools>
      </header>
      {figure.error && !figure.data && <ProblemNote error={figure.error} retry={figure.reload} />}
      {figure.loading && <div className="skeleton" style={{ height }} />}
      {figure.data && asTable && <TableTwin table={table(figure.data)} caption={title} />}
      {figure.data && !asTable && (
        <Drawing figure={figure.data} height={height} label={title} onFigure={setDrawn} />
      )}
      {caption && <p className="caption">{caption}</p>}
    </section>
  );
}

export function PictureTools({
  asTable,
  setAsTable,
  children,
}: {
  asTable: boolean;
  setAsTable: (on: boolean) => void;
  children: ReactNode;
}) {
  return (
    <div className="picture-tools">
      <button
        type="button"
        className="button quiet"
        aria-pressed={asTable}
        onClick={() => setAsTable(!asTable)}
      >
        {asTable ? "Picture" : "Table"}
      </button>
      {children}
    </div>
  );
}

interface DrawingProps {
  figure: Figure;
  height: number;
  label: string;
  onFigure: (figure: Figure) => void;
}

/** A figure in the page's theme and width. */
export function Drawing({ figure, height, label, onFigure }: DrawingProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const paints = usePaints();
  const { theme } = useTheme();
  const most = Number(figure.layout.meta?.max_width) || Number.POSITIVE_INFINITY;
  const ready = useMemo(() => {
    if (!paints || width === 0) return undefined;
    const own = Number(figure.layout.height);
    const { data, layout } = painted(figure, theme, paints);
    return { data, layout: { ...layout, width: Math.min(width, most), height: own || height } };
  }, [figure, theme, paints, width, height, most]);
  return (
    <div
      ref={box}
      role="img"
      aria-label={`${label}. The Table button shows the same as numbers.`}
      style={{ minHeight: Number(figure.layout.height) || height }}
    >
      {ready && <Plot figure={ready} onDrawn={() => onFigure(ready)} />}
    </div>
  );
}
