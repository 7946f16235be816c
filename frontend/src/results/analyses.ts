// What can be computed, in words, and the forms that a page leads to.
import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries";
import type { Loaded } from "../api/query";
import type { Analysis, Run } from "../api/types";
import { fieldsOf, overrides, presetValues, textOf, type Values } from "../form/schema";
import { plural } from "../format/numbers";
import type { NewRun, Place } from "../url/view";

export function useAnalyses(): Loaded<Analysis[]> {
  return useQuery(queries.analyses());
}

export function useAnalysis(name: string): Analysis | undefined {
  return useAnalyses().data?.find((analysis) => analysis.name === name);
}

/** The form with this run's settings: what differs from its preset is filled in. */
export function newRunLike(run: Run, analysis: Analysis | undefined): Place {
  const { model, task } = run;
  const place: { page: "new" } & NewRun = {
    page: "new",
    analysis: run.analysis,
    model,
    task,
    preset: run.preset,
    params: {},
  };
  if (!analysis) return place;
  const fields = fieldsOf(analysis.params_schema, analysis.presets).flat();
  const base = presetValues(fields, analysis.presets[run.preset ?? ""] ?? {});
  const known = Object.fromEntries(fields.map(({ name }) => [name, run.params[name] ?? null])) as Values;
  // A run to which seeds are added must have the same settings: others start from nothing.
  const changed = Object.entries(overrides(known, base)).filter(
    ([name, value]) => value !== null && name !== "adds_to",
  );
  return { ...place, params: Object.fromEntries(changed.map(([name, value]) => [name, textOf(value)])) };
}

/** The run that a parameter names: of which analysis, and whether it must be on the new run's task. */
export function wantedRun(
  { params_schema: schema }: Pick<Analysis, "params_schema">,
  param: string,
): { analysis: string | undefined; sameTask: boolean } {
  const properties = (schema.properties ?? {}) as Record<string, { analysis?: string; same_task?: boolean }>;
  const { analysis, same_task } = properties[param] ?? {};
  return { analysis, sameTask: same_task ?? true };
}

/** "5 seeds", or what the analysis calls them: "4 draws". */
export function seedsText(run: Pick<Run, "seeds">, analysis: Analysis | undefined): string {
  const properties = (analysis?.params_schema.properties ?? {}) as Record<string, { title?: string }>;
  const many = properties.seeds?.title?.toLowerCase() ?? "seeds";
  return plural(run.seeds.length, many.replace(/s$/, ""), many);
}
