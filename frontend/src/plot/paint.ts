// Figures come in the light palette and without their template. Every colour in them is a value of
// the palette, so another theme is a replacement one for one.
import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { Figure, Paints, Theme } from "../api/types";

export function usePaints(): Paints | undefined {
  return useQuery(queries.theme()).data;
}

function colours(palette: Record<string, unknown>): string[] {
  return Object.values(palette)
    .flat()
    .filter((value): value is string => typeof value === "string");
}

function replaced(value: unknown, change: Map<string, string>): unknown {
  if (typeof value === "string")
    return value.length <= 9 ? (change.get(value.toLowerCase()) ?? value) : value;
  if (Array.isArray(value)) return value.map((item) => replaced(item, change));
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaced(item, change)]));
  }
  return value;
}

/** The figure in a theme's colours, with its template. */
export function painted(figure: Figure, theme: Theme, paints: Paints): Figure {
  const paint = paints[theme];
  const light = colours(paints.light.palette);
  const own = colours(paint.palette);
  const change = new Map(light.map((colour, i) => [colour.toLowerCase(), own[i] ?? colour]));
  const { data, layout } = theme === "light" ? figure : (replaced(figure, change) as Figure);
  return { data, layout: { ...layout, template: { ...paint.template } } };
}

export function colour(paints: Paints, theme: Theme, name: string): string {
  const value = paints[theme].palette[name];
  return typeof value === "string" ? value : "#888888";
}
