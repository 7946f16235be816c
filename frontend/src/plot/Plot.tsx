import { useEffect, useRef } from "react";
import type { Figure } from "../api/types";
import { loadPlotly, type PlotElement, type PlotEvent } from "./plotly";

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

  useEffect(() => {
    let dropped = false;
    void loadPlotly().then(async (plotly) => {
      const target = ref.current;
      if (dropped || !target) return;
      const drawn: PlotElement = await plotly.react(target, figure.data, figure.layout, CONFIG);
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
  }, [figure]);

  useEffect(() => {
    const target = ref.current;
    return () => {
      if (target) void loadPlotly().then((plotly) => plotly.purge(target));
    };
  }, []);

  return <div ref={ref} className="plot" />;
}
