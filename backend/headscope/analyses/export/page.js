"use strict";
(async () => {
  const packed = document.getElementById("plotly").textContent.trim();
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const library = document.createElement("script");
  library.textContent = await new Response(unpacked).text();
  document.head.append(library);

  const page = JSON.parse(document.getElementById("figures").textContent);
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const colours = (theme) => Object.values(page.theme[theme].palette).flat();

  // Every colour in a figure is a palette value: another theme is a replacement one for one.
  const repainted = (value, change) => {
    if (typeof value === "string") return change.get(value) ?? value;
    if (Array.isArray(value)) return value.map((item) => repainted(item, change));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, repainted(item, change)]));
    }
    return value;
  };

  const draw = async () => {
    const theme = root.dataset.theme;
    const change = new Map(colours("light").map((colour, i) => [colour, colours(theme)[i]]));
    for (const [name, figure] of Object.entries(page.figures)) {
      const { data, layout } = repainted(figure, change);
      layout.template = page.theme[theme].template;
      layout.autosize = !layout.width;
      const target = document.getElementById(`figure-${name}`);
      await Plotly.react(target, data, layout, { displayModeBar: false, responsive: !layout.width });
      if (page.hover[name] && !target.dataset.listens) listen(target, name);
    }
    root.dataset.drawn = "true";
  };

  // A click or hover at [row, column] is head row / 2 of layer column / cell_columns; odd rows and the last
  // column of a cell are gaps.
  const listen = (target, name) => {
    const { cell_columns: columns, heads } = page.figures[name].layout.meta;
    target.dataset.listens = "true";
    target.on("plotly_unhover", () => { tip.hidden = true; });
    target.on("plotly_hover", ({ points: [{ pointNumber: point }], event }) => {
      if (!Array.isArray(point)) return;
      const [row, column] = point;
      tip.hidden = row % 2 === 1 || column % columns === columns - 1;
      tip.textContent = page.hover[name][Math.floor(column / columns) * heads + row / 2];
      tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${event.clientY + 14}px`;
    });
  };

  const pressed = (chosen) => {
    for (const button of document.querySelectorAll("[data-mode]")) {
      button.setAttribute("aria-pressed", String(button.dataset.mode === chosen));
    }
  };
  for (const button of document.querySelectorAll("[data-mode]")) {
    button.addEventListener("click", () => {
      const { z, reading } = page.modes[button.dataset.mode];
      page.figures.roles.data[0].z = z;
      document.getElementById("reading-roles").textContent = reading;
      pressed(button.dataset.mode);
      draw();
    });
  }
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    draw();
  });
  await draw();
})().catch((error) => {
  document.documentElement.dataset.drawn = "failed";
  document.getElementById("trouble").textContent =
    `The pictures can't be drawn in this browser (${error.message}). The tables below hold the same numbers.`;
});
