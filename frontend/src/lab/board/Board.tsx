import { useEffect, useMemo, useRef, useState } from "react";
import { ProblemNote } from "../../parts/ProblemNote";
import { headName } from "../../url/heads";
import { allOpen, changed, type GateState, headAt, type Sizes, same, solo } from "../state/gates";
import type { Look } from "../state/look";
import { type Lab, useLab } from "../state/useLab";
import { BoardGrid } from "./BoardGrid";
import { type BoardScore, boardScore, faderHeads, gatesInWords, placeOf } from "./board";
import { ClosedHeads } from "./ClosedHeads";
import { Faders } from "./Faders";
import { Presets } from "./Presets";
import { SaveGates } from "./SaveGates";

const FADERS = 9;

export function Board() {
  const { sizes, look } = useLab();
  return (
    <section className="card board" aria-labelledby="board-heading">
      <h2 id="board-heading">Mixing board</h2>
      {sizes ? (
        <BoardControls sizes={sizes} look={look.data} />
      ) : (
        <div className="skeleton board-skeleton" role="status" aria-label="Loading the board" />
      )}
    </section>
  );
}

/** The heads whose gate was moved since the prompt or the model changed: their faders stay under the hand. */
function useTouched(gates: GateState, subject: string): ReadonlySet<number> {
  const touched = useRef({ subject, heads: new Set<number>() });
  if (touched.current.subject !== subject) touched.current = { subject, heads: new Set() };
  for (const at of changed(gates)) touched.current.heads.add(at);
  return touched.current.heads;
}

/** Undo and redo by keyboard, wherever the focus is, but in a text field, which has its own. */
function useUndoKeys(lab: Lab): void {
  const { history } = lab;
  const now = useRef(history);
  now.current = history;
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "z") return;
      const target = event.target as HTMLElement;
      if (
        target.closest("textarea, [contenteditable], input:not([type=range], [type=checkbox], [type=radio])")
      )
        return;
      event.preventDefault();
      if (event.shiftKey) now.current.redo();
      else now.current.undo();
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, []);
}

function BoardControls({ sizes, look }: { sizes: Sizes; look: Look | undefined }) {
  const lab = useLab();
  const { gates, setGates, view, head, select, readOnly } = lab;
  const [marked, setMarked] = useState<ReadonlySet<number>>(new Set());
  const [selecting, setSelecting] = useState(false);
  useUndoKeys(lab);
  const score = useMemo(() => (look ? boardScore(look, view.sort) : null), [look, view.sort]);
  const order = score?.order ?? Array.from(gates.keys());
  const touched = useTouched(gates, JSON.stringify([lab.ask?.model, sizes]));
  const selected = placeOf(sizes, head);
  const { shown, more } = faderHeads(order, gates, touched, selected, FADERS);
  const selectedHeads = marked.size > 0 ? [...marked] : selected === null ? [] : [selected];
  const set = (next: GateState, step: boolean) => setGates(next, { step });

  return (
    <>
      <p className="muted small">
        {!readOnly && "Click a head to mute it, drag up or down to set its gate. "}
        {score && `Darker is stronger ${score.where} (${score.title.toLowerCase()}).`}
      </p>
      <Faders sizes={sizes} gates={gates} shown={shown} marked={marked} readOnly={readOnly} onGates={set} />
      {more > 0 && <p className="muted small">and {more} more changed on the grid</p>}
      <BoardGrid
        sizes={sizes}
        kvHeads={look?.n_kv_heads ?? lab.model?.n_kv_heads ?? sizes.heads}
        gates={gates}
        strengths={score?.shades ?? null}
        marked={marked}
        selecting={selecting}
        readOnly={readOnly}
        onMarked={(next) => setMarked(new Set(next))}
        onGates={set}
        onSelect={select}
      />
      <p className="board-state" role="status">
        {gatesInWords(gates)}
        {!readOnly &&
          selectedHeads.length > 0 &&
          ` · selected: ${selectedHeads.length === 1 ? headName(headAt(sizes, selectedHeads[0] ?? 0)) : `${selectedHeads.length} heads`}`}
      </p>
      {!readOnly && (
        <Tools
          sizes={sizes}
          score={score}
          selectedHeads={selectedHeads}
          marked={marked}
          selecting={selecting}
          onSelecting={setSelecting}
          onMarked={setMarked}
        />
      )}
      <ClosedHeads />
      {lab.gatesError && <ProblemNote error={lab.gatesError} />}
    </>
  );
}

interface ToolsProps {
  sizes: Sizes;
  score: BoardScore | null;
  /** The heads that Solo leaves open. */
  selectedHeads: readonly number[];
  marked: ReadonlySet<number>;
  selecting: boolean;
  onSelecting: (selecting: boolean) => void;
  onMarked: (marked: ReadonlySet<number>) => void;
}

function Tools({ sizes, score, selectedHeads, marked, selecting, onSelecting, onMarked }: ToolsProps) {
  const { gates, setGates, history } = useLab();
  return (
    <div className="board-tools">
      <button type="button" className="button" disabled={!history.canUndo} onClick={history.undo}>
        Undo
      </button>
      <button type="button" className="button" disabled={!history.canRedo} onClick={history.redo}>
        Redo
      </button>
      <button
        type="button"
        className="button"
        disabled={selectedHeads.length === 0}
        title="Mute all but the selected heads; press again to open all"
        onClick={() => setGates(solo(gates, selectedHeads))}
      >
        Solo
      </button>
      <button
        type="button"
        className="button"
        aria-pressed={selecting}
        title="Draw a box on the grid to select several heads; with a mouse, Shift and drag does the same"
        onClick={() => onSelecting(!selecting)}
      >
        Select
      </button>
      {marked.size > 0 && (
        <button type="button" className="button quiet" onClick={() => onMarked(new Set())}>
          Deselect
        </button>
      )}
      <button
        type="button"
        className="button"
        disabled={same(gates, allOpen(sizes))}
        onClick={() => setGates(allOpen(sizes))}
      >
        Reset
      </button>
      <Presets sizes={sizes} score={score} />
      <SaveGates sizes={sizes} />
    </div>
  );
}
