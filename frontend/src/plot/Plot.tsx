import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Figure } from "../api/types";
import { ProblemNote } from "../parts/ProblemNote";
import { type PlotElement, type PlotEvent, plotlyQuery } from "./plotly";

const CONFIG = {
  displayModeBar: false,
  responsive: false,
  doubleClick: false,
  scrollZoom: false,
  showTips: false,
};

export interface PlotProps {
  /** Painted, with its template and its size. */
  figure: Figure;
  onClick?: (event: PlotEvent) => void;
  onHover?: (event: PlotEvent | null) => void;
  onDrawn?: () => void;
}

/** One plotly drawing. A new figure is drawn over the old one, so that it never blinks. */
export function Plot({ figure, onClick, onHover, onDrawn }: PlotProps) {
  const ref = useRef<HTMLDivElement>(null);
  const handlers = useRef({ onClick, onHover, onDrawn });
  handlers.current = { onClick, onHover, onDrawn };

  const { data: plotly, error, refetch } = useQuery(plotlyQuery());

  useEffect(() => {
    const target = ref.current;
    if (!plotly || !target) return;
    let dropped = false;
    void plotly.react(target, figure.data, figure.layout, CONFIG).then((drawn: PlotElement) => {
      if (dropped) return;
      for (const name of ["plotly_click", "plotly_hover", "plotly_unhover"]) drawn.removeAllListeners(name);
      drawn.on("plotly_click", (event) => handlers.current.onClick?.(event));
      drawn.on("plotly_hover", (event) => handlers.current.onHover?.(event));
      drawn.on("plotly_unhover", () => handlers.current.onHover?.(null));
      handlers.current.onDrawn?.();
    });
    return () => {
      dropped = true;
    };
  }, [figure, plotly]);

  useEffect(() => {
    const target = ref.current;
    return () => {
      if (target) plotly?.purge(target);
    };
  }, [plotly]);

  if (error) return <ProblemNote error={error} retry={refetch} />;
  return <div ref={ref} className="plot" />;
}
