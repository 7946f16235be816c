import { addressOf } from "../api/http";
import { Menu, MenuItem } from "./Menu";
import type { CompareSubject, LabSubject, RunSubject, Subject } from "./subject";
import { useTheme } from "./theme";

/** What a page shows, as files. */
export function ExportMenu({ subject, quiet = false }: { subject: Subject; quiet?: boolean }) {
  switch (subject.kind) {
    case "run":
      return <RunFiles subject={subject} quiet={quiet} />;
    case "lab":
      return <LabFiles subject={subject} />;
    case "compare":
      return <ComparisonFiles subject={subject} />;
  }
}

function LabFiles({ subject }: { subject: LabSubject }) {
  return (
    <Menu label="Export" title="Export this view">
      {subject.files.map(({ title, save }) => (
        <MenuItem key={title} onSelect={save}>
          {title}
        </MenuItem>
      ))}
    </Menu>
  );
}

/** The comparison: the page by itself, and its table. */
function ComparisonFiles({ subject }: { subject: CompareSubject }) {
  const { theme } = useTheme();
  const { view, runs: _, ...comparison } = subject.comparison;
  const address = (format: "html" | "csv" | "json") =>
    addressOf("/api/v1/comparisons/{name}/export", {
      path: { name: view },
      query: { format, run: [...subject.runs], share: subject.share, theme, ...comparison },
    });
  return (
    <Menu label="Export" title="Export this comparison">
      <MenuItem href={address("html")}>This view, one HTML file</MenuItem>
      <MenuItem href={address("csv")}>Its table, CSV</MenuItem>
      <MenuItem href={address("json")}>Table and runs, JSON</MenuItem>
    </Menu>
  );
}

/** The run: the page by itself, the numbers, the arrays. */
function RunFiles({ subject, quiet }: { subject: RunSubject; quiet: boolean }) {
  const { theme } = useTheme();
  const { run, share, view } = subject;
  const address = (format: "html" | "csv" | "json" | "npz" | "ipynb" | "heads") =>
    addressOf("/api/v1/runs/{run_id}/export", {
      path: { run_id: run.id },
      query: { format, share, threshold: view.threshold, mode: view.mode, theme },
    });
  return (
    <Menu label="Export" title="Export this run" quiet={quiet}>
      <MenuItem href={address("html")}>This page, one HTML file</MenuItem>
      <MenuItem href={address("csv")}>
        {run.has_roles ? "Heads and seeds, CSV" : "Its first table, CSV"}
      </MenuItem>
      <MenuItem href={address("json")}>Everything, JSON</MenuItem>
      {(run.has_roles || run.analysis === "circuit-test") && (
        <MenuItem href={address("heads")}>
          {run.has_roles ? "The needed heads as a list, text" : "The circuit’s heads as a list, text"}
        </MenuItem>
      )}
      <MenuItem href={address("npz")}>Arrays for NumPy, npz</MenuItem>
      <MenuItem href={address("ipynb")}>A Jupyter notebook, ipynb</MenuItem>
    </Menu>
  );
}
