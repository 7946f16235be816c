import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId, useMemo, useRef, useState } from "react";
import type { Loaded } from "../api/query";
import type { Figure } from "../api/types";
import { Menu, MenuItem } from "../parts/Menu";
import { ProblemNote } from "../parts/ProblemNote";
import { useTheme } from "../parts/theme";
import { useWidth } from "../parts/useWidth";
import type { Head } from "../url/view";
import { HeadMap } from "./HeadMap";
import { headOf, isGrid, ringed } from "./heads";
import { Plot } from "./Plot";
import { colour, painted, usePaints } from "./paint";
import { type Plotly, plotlyQuery } from "./plotly";
import { numbersAddress, type PictureSource, savedAs } from "./source";
import { TableTwin } from "./TableTwin";

/** Save a drawing as it is on the page, but without the selection. */
async function saveImage(
  plotly: Plotly,
  figure: Figure,
  format: "png" | "svg",
  filename: string,
): Promise<void> {
  const width = Number(figure.layout.width) || 900;
  const height = Number(figure.layout.height) || 300;
  await plotly.downloadImage(figure, { format, width, height, filename, scale: format === "png" ? 2 : 1 });
}

interface PictureToolsProps {
  asTable: boolean;
  setAsTable: (on: boolean) => void;
  /** Makes the picture to save; nothing to save before it is there. */
  figure: (() => Figure) | undefined;
  source: PictureSource;
  children?: ReactNode;
}

/** The switch to the table twin, and the downloads. */
export function PictureTools({ asTable, setAsTable, figure, source, children }: PictureToolsProps) {
  const { data: plotly } = useQuery(plotlyQuery());
  const save = (format: "png" | "svg") =>
    plotly && figure && void saveImage(plotly, figure(), format, savedAs(source));
  const address = (format: "csv" | "json") => numbersAddress(source, format);
  return (
    <div className="picture-tools">
      {children}
      <button
        type="button"
        className="button quiet"
        aria-pressed={asTable}
        onClick={() => setAsTable(!asTable)}
      >
        {asTable ? "Picture" : "Table"}
      </button>
      <Menu label="Download" title="Download this picture or its numbers" quiet>
        <MenuItem disabled={!figure} onSelect={() => save("png")}>
          Picture, PNG
        </MenuItem>
        <MenuItem disabled={!figure} onSelect={() => save("svg")}>
          Picture, SVG
        </MenuItem>
        <MenuItem href={address("csv")}>Numbers, CSV</MenuItem>
        <MenuItem href={address("json")}>Numbers, JSON</MenuItem>
      </Menu>
    </div>
  );
}

/** The selected head, and how another is taken: by a click on what stands for it. */
export interface Selection {
  head: Head | null;
  onSelect: (head: Head | null) => void;
}

interface PictureProps {
  /** Shown until the figure says its own title. */
  title: string;
  figure: Loaded<Figure>;
  source: PictureSource;
  controls?: ReactNode;
  selection?: Selection;
}

const HEIGHT = 280;

/** Pixels that each of several axes side by side needs: on a narrower page the picture scrolls sideways. */
const FACET = 180;

/** How many x axes stand side by side: the most whose beginnings differ. */
export function facets({ layout }: Figure): number {
  const axes = Object.entries(layout).filter(([name]) => name.startsWith("xaxis"));
  const begin = axes.map(([, axis]) => (axis as { domain?: number[] } | undefined)?.domain?.[0] ?? 0);
  return new Set(begin).size;
}

/** A card with a picture, its table twin and its downloads; title and reading come with the figure. */
export function Picture({ title, figure, source, controls, selection }: PictureProps) {
  const heading = useId();
  const [asTable, setAsTable] = useState(false);
  const [drawn, setDrawn] = useState<Figure>();
  const { data } = figure;
  const name = data?.layout.meta?.title ?? title;
  return (
    <section className="card picture" aria-labelledby={heading}>
      <header className="picture-head">
        <h3 id={heading}>{name}</h3>
        <PictureTools
          asTable={asTable}
          setAsTable={setAsTable}
          figure={drawn && (() => drawn)}
          source={source}
        />
      </header>
      {controls && <div className="picture-controls">{controls}</div>}
      {figure.error && !data && <ProblemNote error={figure.error} retry={figure.refetch} />}
      {figure.isLoading && <div className="skeleton" style={{ height: HEIGHT }} />}
      {data && asTable && <TableTwin source={source} caption={name} />}
      {data && !asTable && isGrid(data) && (
        <HeadMap
          figure={data}
          label={name}
          head={selection?.head ?? null}
          onSelect={selection?.onSelect}
          onFigure={setDrawn}
        />
      )}
      {data && !asTable && !isGrid(data) && (
        <Drawing figure={data} label={name} onFigure={setDrawn} selection={selection} />
      )}
      {data?.layout.meta?.reading && <p className="caption">{data.layout.meta.reading}</p>}
    </section>
  );
}

interface DrawingProps {
  figure: Figure;
  label: string;
  onFigure?: (figure: Figure) => void;
  selection?: Selection | undefined;
}

/** A figure in the page's theme and width. */
export function Drawing({ figure, label, onFigure, selection }: DrawingProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const paints = usePaints();
  const { theme } = useTheme();
  const tall = Number(figure.layout.height) || HEIGHT;
  // What has equal units both ways would stand in an empty box where the page is narrow.
  const square = (figure.layout.yaxis as { scaleanchor?: string } | undefined)?.scaleanchor !== undefined;
  const height = square && width > 0 ? Math.min(tall, width + 90) : tall;
  const most = figure.layout.meta?.max_width ?? Number.POSITIVE_INFINITY;
  const ready = useMemo(() => {
    if (!paints || width === 0) return undefined;
    const { data, layout } = painted(figure, theme, paints);
    const beside = facets(figure);
    const least = beside > 1 ? beside * FACET : 0;
    return { data, layout: { ...layout, width: Math.max(least, Math.min(width, most)), height } };
  }, [figure, theme, paints, width, height, most]);
  const head = selection?.head ?? null;
  const shown = useMemo(
    () => ready && paints && ringed(ready, head, colour(paints, theme, "ink")),
    [ready, paints, theme, head],
  );
  return (
    <div
      ref={box}
      className="drawing"
      role="img"
      aria-label={`${label}. The Table button shows the same as numbers.`}
      style={{ minHeight: height }}
    >
      {ready && shown && (
        <Plot
          figure={shown}
          onDrawn={() => onFigure?.(ready)}
          onClick={(event) => {
            const head = headOf(event.points[0], figure);
            if (head) selection?.onSelect(head);
          }}
        />
      )}
    </div>
  );
}
