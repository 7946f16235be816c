import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./styles/index.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { loadPlotly } from "./plot/plotly";
import { parsePlace } from "./url/view";

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

// The drawing library comes while the data does, so that the first picture waits for neither. The lab paints by
// itself: a megabyte of script would only stand in its way.
if (parsePlace(window.location.pathname).page !== "lab") void loadPlotly().catch(() => {});
