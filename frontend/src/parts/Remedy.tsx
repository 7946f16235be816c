import { CopyButton } from "./CopyButton";

/** The command inside a remedy: in backticks, or the remedy itself where it is one. */
export function commandIn(remedy: string): string | null {
  if (/^headscope \S/.test(remedy) && !remedy.includes("`")) return remedy;
  return /`([^`]+)`/.exec(remedy)?.[1] ?? null;
}

/** What to do where a model's weights aren't here. */
export function NotHereYet({ name, remedy }: { name: string; remedy: string | null }) {
  const text = remedy ?? "";
  const command = commandIn(text);
  const words = text === command ? "One command fetches them:" : text.replaceAll("`", "");
  return (
    <div className="notice not-here">
      <p>
        The weights of {name} aren’t here yet. {words}
      </p>
      {command && (
        <div className="command-row">
          <pre className="command">{command}</pre>
          <CopyButton text={command} />
        </div>
      )}
    </div>
  );
}
