import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { labQueries } from "../../api/lab";
import type { GatePreset } from "../../api/labTypes";
import { queries } from "../../api/queries";
import type { Run } from "../../api/types";
import { moment, plural } from "../../format/numbers";
import { Dialog } from "../../parts/Dialog";
import { ProblemNote } from "../../parts/ProblemNote";
import { decode } from "../../plot/arrays";
import { useAnalyses } from "../../results/analyses";
import { namedTasks } from "../../results/RunTitle";
import { Link } from "../../url/navigation";
import { NEW_RUN } from "../../url/view";
import type { Sizes } from "../state/gates";
import { useLab } from "../state/useLab";

interface RunGatesProps {
  sizes: Sizes;
  onClose: () => void;
}

/** Take the gates that a finished run of this model found. */
export function RunGates({ sizes, onClose }: RunGatesProps) {
  const { view } = useLab();
  const model = view.model ?? "";
  const analyses = useAnalyses();
  const runs = useQuery(queries.runs({ model, status: "done", limit: 500 }));
  const [chosen, setChosen] = useState<string | null>(null);
  const offering = analyses.data?.filter(({ offers_gates }) => offers_gates).map(({ name }) => name);
  const fits = offering && runs.data?.runs.filter(({ analysis }) => offering.includes(analysis));
  const error = analyses.error ?? runs.error;
  const run = fits?.find(({ id }) => id === chosen) ?? fits?.[0];
  return (
    <Dialog title="Gates from a finished run" onClose={onClose}>
      {error && (
        <ProblemNote error={error} retry={() => [analyses, runs].forEach(({ refetch }) => void refetch())} />
      )}
      {!fits && !error && (
        <div className="skeleton list-skeleton" role="status" aria-label="Loading the runs" />
      )}
      {fits?.length === 0 && (
        <p>
          No run of this model is finished yet. <Link to={{ page: "new", ...NEW_RUN, model }}>Start one</Link>
          : it finds which heads a task needs.
        </p>
      )}
      {fits && run && (
        <>
          <label className="field">
            Run
            <select value={run.id} onChange={(event) => setChosen(event.target.value)}>
              {fits.map((fit) => (
                <option key={fit.id} value={fit.id}>
                  {runWords(fit)}
                </option>
              ))}
            </select>
          </label>
          <RunPresets key={run.id} run={run} sizes={sizes} onClose={onClose} />
        </>
      )}
    </Dialog>
  );
}

function runWords(run: Run): string {
  const task = run.task ?? namedTasks(run) ?? "no task";
  return `${task} · ${plural(run.seeds.length, "seed")} · ${moment(run.created_at)}`;
}

interface RunPresetsProps extends RunGatesProps {
  run: Run;
}

function RunPresets({ run, sizes, onClose }: RunPresetsProps) {
  const { setGates } = useLab();
  const [seed, setSeed] = useState("mean");
  const [threshold, setThreshold] = useState(0.5);
  const presets = useQuery(labQueries.gatePresets(run, { seed, threshold }));
  const take = (preset: GatePreset) => {
    setGates(Float32Array.from(decode(preset.gates).values));
    onClose();
  };
  return (
    <>
      <div className="field-pair">
        <label className="field">
          Seeds
          <select value={seed} onChange={(event) => setSeed(event.target.value)}>
            <option value="mean">mean of all</option>
            {run.seeds.map((value) => (
              <option key={value} value={value}>
                seed {value}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          Role threshold
          <input
            type="number"
            min={0.01}
            max={1}
            step={0.05}
            value={threshold}
            onChange={(event) => {
              const value = Number(event.target.value);
              if (value > 0 && value <= 1) setThreshold(value);
            }}
          />
        </label>
      </div>
      {presets.error && <ProblemNote error={presets.error} retry={presets.refetch} />}
      <ul className="choice-list">
        {presets.data?.map((preset) => (
          <li key={preset.name}>
            <button
              type="button"
              className="choice"
              disabled={decode(preset.gates).values.length !== sizes.layers * sizes.heads}
              onClick={() => take(preset)}
            >
              <strong>{preset.title}</strong>
              <span className="muted small">
                {preset.reading} {plural(preset.open, "head")} open of {sizes.layers * sizes.heads}.
              </span>
            </button>
          </li>
        ))}
      </ul>
      {presets.data && !presets.data.some(({ name }) => name === "sufficient") && run.task && (
        <p className="muted small">
          No sufficient subset of heads is known yet.{" "}
          <Link
            to={{
              page: "new",
              ...NEW_RUN,
              analysis: "sufficiency",
              model: run.model,
              task: run.task,
              params: { run: run.id },
            }}
          >
            Find one
          </Link>
        </p>
      )}
    </>
  );
}
