// What the lab's page offers in the header: a link to what is shown, and the same as files.
import { useMemo } from "react";
import type { GatesOut, LabShareRequest } from "../../api/labTypes";
import type { Theme } from "../../api/types";
import { type LabSubject, useDeclare } from "../../parts/subject";
import { useTheme } from "../../parts/theme";
import { labParameters } from "../../url/lab";
import { sheetImage } from "../sheet/sheetImage";
import { csv, save } from "./files";
import { type GateState, headAt, type Sizes, toRows } from "./gates";
import { type Column, columnsOf, type Look } from "./look";
import { type Lab, useLab } from "./useLab";

/** What a share keeps of the view besides the prompt and the gates, which it has whole. */
function viewOf({ view }: Lab): Record<string, string> {
  const { model, prompt, example, mute, gates, ...shown } = labParameters(view);
  return shown;
}

/** Every score, and the ends of those that have an interval. */
function columnsToSave(look: Look): Pick<Column, "name" | "values">[] {
  const ends = [...look.above].flatMap(([name, { low, high }]) => [
    { name: `${name}_above_low`, values: low },
    { name: `${name}_above_high`, values: high },
  ]);
  return [...columnsOf(look), ...ends];
}

/** All heads' scores and gates, a row a head. */
export function scoresCsv(look: Look, gates: GateState): string {
  const columns = columnsToSave(look);
  const rows = Array.from(gates, (gate, at) => {
    const { layer, head } = headAt(look, at);
    const scores = columns.map(({ values }) => {
      const value = values[at] ?? Number.NaN;
      return Number.isNaN(value) ? "" : Number(value.toPrecision(6));
    });
    return [layer, head, Number(gate.toPrecision(6)), ...scores];
  });
  return csv([["layer", "head", "gate", ...columns.map(({ name }) => name)], ...rows]);
}

/** The view's numbers: tokens, scores, losses, gates, next tokens. NaN is null. */
export function viewJson(look: Look, gates: GateState, sizes: Sizes, out: GatesOut | undefined): string {
  const finite = (values: Iterable<number>) =>
    Array.from(values, (value) => (Number.isFinite(value) ? Number(value.toPrecision(6)) : null));
  const { model, tokens, copies } = look;
  const scores = Object.fromEntries(
    columnsToSave(look).map(({ name, values }) => [name, inRows(finite(values), sizes)]),
  );
  const view = { model, tokens, copies, loss: finite(look.loss), scores, gates: toRows(gates, sizes) };
  return `${JSON.stringify({ ...view, under_the_gates: out ?? null }, null, 1)}\n`;
}

function inRows<T>(values: readonly T[], { layers, heads }: Sizes): T[][] {
  return Array.from({ length: layers }, (_, layer) => values.slice(layer * heads, (layer + 1) * heads));
}

function files(lab: Lab, look: Look, theme: Theme): LabSubject["files"] {
  const { gates, gated, sizes, view } = lab;
  const name = `headscope-lab-${look.model.replace(/[^\w.-]+/g, "-")}`;
  return [
    {
      title: "Heads and scores, CSV",
      save: () => save(scoresCsv(look, gates), `${name}.csv`, "text/csv"),
    },
    {
      title: "Everything shown, JSON",
      save: () => save(viewJson(look, gates, sizes ?? look, gated.data), `${name}.json`, "application/json"),
    },
    {
      title: "All heads’ patterns, PNG",
      save: () =>
        sheetImage(look, gates, view.sort, view.sink, theme).toBlob(
          (image) => image && save(image, `${name}.png`, "image/png"),
        ),
    },
  ];
}

export function useLabSubject(): void {
  const lab = useLab();
  const { theme } = useTheme();
  const { ask, gates, sizes, view, at, readOnly } = lab;
  const look = lab.look.data;
  const out = lab.gated.data;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `lab` is new at every render; these are what counts of it
  const subject = useMemo<LabSubject | null>(() => {
    if (!look || !sizes) return null;
    const request: LabShareRequest | null =
      ask && !readOnly
        ? {
            ...ask,
            fold: view.fold,
            weighted: view.weighted,
            gates: toRows(gates, sizes),
            ...view.closed,
            at,
            answers: view.answers,
          }
        : null;
    return { kind: "lab", lab: request, view: viewOf(lab), files: files(lab, look, theme) };
  }, [look, sizes, ask, readOnly, gates, view, at, out, theme]);
  useDeclare(subject);
}
