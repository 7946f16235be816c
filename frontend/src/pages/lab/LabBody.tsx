import { useRef, useState } from "react";
import type { Resource } from "../../api/resource";
import { PointedProvider } from "../../lab/pointed";
import { useLab } from "../../lab/state";
import type { Pattern } from "../../lab/triangle";
import { usePattern } from "../../lab/usePattern";
import { ProblemNote } from "../../parts/ProblemNote";
import { NotHereYet } from "../../parts/Remedy";
import { BatchBar } from "./BatchBar";
import { HeadLarge } from "./HeadLarge";
import { HeadsCard } from "./HeadsCard";
import { LabFacts } from "./LabFacts";
import { HeadsSkeleton, TokensSkeleton } from "./LabSkeleton";
import { LabTitle } from "./LabTitle";
import { PromptEditor } from "./PromptEditor";
import { PromptSources } from "./PromptSources";
import { Side } from "./Side";
import { Suggestion } from "./Suggestion";
import { TokensCard } from "./TokensCard";

/** The lab's page: title, prompt and heads on the left; gates and what they do on the right. */
export function LabBody() {
  const lab = useLab();
  const { look, model, view } = lab;
  const pattern = usePattern(lab);
  return (
    <div className="page lab">
      <LabTitle />
      {look.data ? <LabFacts look={look.data} /> : look.loading && <div className="skeleton text" />}
      {model && !model.ready && <NotHereYet name={model.title} remedy={model.remedy} />}
      {!model && <p className="muted">There is no model named {view.model} here.</p>}
      <PointedProvider>
        <div className="columns lab-columns">
          <div className="main-column">
            <Prompt pattern={pattern} />
            <Heads pattern={pattern} />
          </div>
          <aside className="side-column" aria-label="Gates and what they do">
            <Side />
          </aside>
        </div>
      </PointedProvider>
    </div>
  );
}

interface WithPattern {
  /** The selected head's. */
  pattern: Resource<Pattern | null>;
}

function Prompt({ pattern }: WithPattern) {
  const { prompt, readOnly, examples, model } = useLab();
  const [editing, setEditing] = useState(false);
  const nothing = prompt.text === null && !prompt.error && !examples.loading && !prompt.stored;
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
  if (readOnly || model?.ready !== true) return inside;
  return (
    <PromptSources editing={editing} onEdit={() => setEditing(!editing)} onOther={() => setEditing(false)}>
      {inside}
    </PromptSources>
  );
}

function Tokens({ pattern }: WithPattern) {
  const { look, prompt, model } = useLab();
  const error = prompt.error ?? look.error;
  if (error) return <ProblemNote error={error} retry={prompt.error ? prompt.reload : look.reload} />;
  if (!look.data) return model?.ready ? <TokensSkeleton /> : null;
  return <TokensCard look={look.data} pattern={pattern.data ?? null} />;
}

function Heads({ pattern }: WithPattern) {
  const { look, prompt, model } = useLab();
  const large = useRef<HTMLElement>(null);
  const open = () => {
    large.current?.focus({ preventScroll: true });
    large.current?.scrollIntoView({ block: "nearest" });
  };
  if (!look.data) return model?.ready && !look.error && !prompt.error ? <HeadsSkeleton /> : null;
  return (
    <>
      <HeadsCard look={look.data} onOpen={open} />
      <HeadLarge ref={large} look={look.data} pattern={pattern} />
    </>
  );
}
