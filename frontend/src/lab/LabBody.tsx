import { useEffect, useRef, useState } from "react";
import type { Loaded } from "../api/query";
import { ProblemNote } from "../parts/ProblemNote";
import { NotHereYet } from "../parts/Remedy";
import { Words } from "../parts/Words";
import { Suggestion } from "./board/Suggestion";
import { HeadLarge } from "./head/HeadLarge";
import { LabFacts } from "./LabFacts";
import { HeadsSkeleton, TokensSkeleton } from "./LabSkeleton";
import { LabTitle } from "./LabTitle";
import type { Pattern } from "./pattern/triangle";
import { usePattern } from "./pattern/usePattern";
import { BatchBar } from "./prompt/BatchBar";
import { PromptEditor } from "./prompt/PromptEditor";
import { PromptSources } from "./prompt/PromptSources";
import { SideColumn } from "./SideColumn";
import { HeadsCard } from "./sheet/HeadsCard";
import { PointedProvider } from "./state/pointed";
import { useLab } from "./state/useLab";
import { TokensCard } from "./tokens/TokensCard";
import "./lab.css";
import "./prompt/prompt.css";
import "./tokens/token-flow.css";
import "./sheet/sheet.css";
import "./head/head.css";
import "./board/board.css";
import "./effects/effects.css";

/** The lab's page: title, prompt and heads on the left; gates and their effects on the right. */
export function LabBody() {
  const lab = useLab();
  const { look, model, readOnly } = lab;
  const pattern = usePattern(lab);
  return (
    <div className="page lab">
      <LabTitle />
      {look.data ? <LabFacts look={look.data} /> : look.isLoading && <Waiting />}
      {readOnly || model?.ready ? (
        <PointedProvider>
          <div className="columns lab-columns">
            <div className="main-column">
              <Prompt pattern={pattern} />
              <Heads pattern={pattern} />
            </div>
            <aside className="side-column" aria-label="Gates and their effects">
              <SideColumn />
            </aside>
          </div>
        </PointedProvider>
      ) : (
        <NoModel />
      )}
    </div>
  );
}

/** What the wait is for, once it is long enough to wonder. */
function Waiting() {
  const [long, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 1500);
    return () => clearTimeout(timer);
  }, []);
  if (!long) return <div className="skeleton text" />;
  return (
    <p className="muted" role="status">
      Reading the prompt… Loading a model, or a long prompt, takes a few more seconds.
    </p>
  );
}

/** The model that the address names isn't here: what brings it, or another one. */
function NoModel() {
  const { model, models, view } = useLab();
  if (model) return <NotHereYet name={model.title} remedy={model.remedy} />;
  const here = models.filter(({ ready }) => ready).map(({ title }) => title);
  return (
    <p className="notice">
      {view.model ? `There is no model named ${view.model} here.` : "There is no model here yet."}{" "}
      {here.length > 0 ? (
        `Choose one of these in the title: ${here.join(", ")}.`
      ) : (
        <Words text="Add one with `headscope models fetch`." />
      )}
    </p>
  );
}

interface WithPattern {
  /** The selected head's. */
  pattern: Loaded<Pattern | null>;
}

function Prompt({ pattern }: WithPattern) {
  const { prompt, readOnly, examples } = useLab();
  const [editing, setEditing] = useState(false);
  const nothing = prompt.text === null && !prompt.error && !examples.isLoading && !prompt.stored;
  const empty = nothing && examples.data?.length === 0;
  const inside = (
    <>
      {prompt.stored?.kind === "batch" && <BatchBar batch={prompt.stored} />}
      {editing || empty ? (
        <section className="card" aria-label="Prompt">
          <PromptEditor
            text={empty ? "" : (prompt.text ?? "")}
            onCancel={empty ? null : () => setEditing(false)}
            onDone={() => setEditing(false)}
          />
        </section>
      ) : (
        <Tokens pattern={pattern} />
      )}
      {prompt.example && !editing && !readOnly && <Suggestion example={prompt.example} />}
    </>
  );
  if (readOnly) return inside;
  return (
    <PromptSources editing={editing} onEdit={() => setEditing(!editing)} onOther={() => setEditing(false)}>
      {inside}
    </PromptSources>
  );
}

function Tokens({ pattern }: WithPattern) {
  const { look, prompt } = useLab();
  const error = prompt.error ?? look.error;
  if (error) return <ProblemNote error={error} retry={prompt.error ? prompt.reload : look.refetch} />;
  if (!look.data) return <TokensSkeleton />;
  return <TokensCard look={look.data} pattern={pattern.data ?? null} />;
}

function Heads({ pattern }: WithPattern) {
  const { look, prompt } = useLab();
  const large = useRef<HTMLElement>(null);
  const open = () => {
    large.current?.focus({ preventScroll: true });
    large.current?.scrollIntoView({ block: "nearest" });
  };
  if (!look.data) return look.error || prompt.error ? null : <HeadsSkeleton />;
  return (
    <>
      <HeadsCard look={look.data} onOpen={open} />
      <HeadLarge ref={large} look={look.data} pattern={pattern} />
    </>
  );
}
