// plotly.js, loaded once and apart from the page's own code: text and layout never wait for it.
import { queryOptions, useQuery } from "@tanstack/react-query";
import { ApiError } from "../api/errors";
import { FIXED } from "../api/queries";
import type { Figure } from "../api/types";

export interface PlotPoint {
  /** A heatmap's [row, column]. */
  pointNumber: number | [number, number];
  curveNumber: number;
  /** What the trace says of this point. */
  customdata?: unknown;
  text?: unknown;
  hovertext?: unknown;
  id?: unknown;
  x?: unknown;
  y?: unknown;
}

export interface PlotEvent {
  points: PlotPoint[];
  event: MouseEvent;
}

/** An element that plotly has drawn into; it emits plotly's events. */
export interface PlotElement extends HTMLElement {
  on(name: string, listener: (event: PlotEvent) => void): void;
  removeAllListeners(name: string): void;
}

type Config = Record<string, unknown>;
type ImageOptions = {
  format: "png" | "svg";
  width: number;
  height: number;
  scale?: number;
  filename?: string;
};

export interface Plotly {
  react(target: HTMLElement, data: unknown[], layout: unknown, config: Config): Promise<PlotElement>;
  restyle(target: HTMLElement, change: Record<string, unknown>, traces?: number[]): Promise<unknown>;
  relayout(target: HTMLElement, change: Record<string, unknown>): Promise<unknown>;
  purge(target: HTMLElement): void;
  downloadImage(figure: Figure, options: ImageOptions): Promise<string>;
}

async function load(): Promise<Plotly> {
  try {
    return (await import("plotly.js-cartesian-dist-min")).default as Plotly;
  } catch (cause) {
    const problem = {
      type: "about:blank",
      title: "Nothing to draw with",
      status: 0,
      code: "no-plotly",
      detail: "The library that draws pictures couldn't be loaded.",
      remedy: "Try again; if it stays, reload the page. The table shows the same numbers without it.",
    };
    throw new ApiError(problem, null, { cause });
  }
}

export function plotlyQuery() {
  return queryOptions({
    queryKey: ["plotly"],
    queryFn: load,
    structuralSharing: false,
    gcTime: Number.POSITIVE_INFINITY,
    ...FIXED,
  });
}

/** Have plotly come while the data of a page that draws does, so that the first picture waits for neither. */
export function usePlotly(draws = true): void {
  useQuery({ ...plotlyQuery(), enabled: draws, notifyOnChangeProps: [] });
}
