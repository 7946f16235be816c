// A list of heads: typed, pasted or opened from a file, and read by the server as it will be when the run starts.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { queries } from "../api/queries";
import type { PickerInput } from "../form/SchemaForm";
import { plural } from "../format/numbers";
import { textOf } from "../format/textOf";
import { Words } from "../parts/Words";

const SETTLES_MS = 250;

/** What was typed, once the typist rests. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLES_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

export function HeadsInput({ field, value, onChange, shared, model }: PickerInput & { model: string }) {
  const text = typeof value === "string" ? value : "";
  return (
    <>
      <textarea
        {...shared}
        rows={3}
        value={text}
        spellCheck={false}
        placeholder="0.3, 1.5"
        onChange={({ target }) => onChange(target.value === "" && field.optional ? null : target.value)}
      />
      <input
        type="file"
        aria-label={`${field.title}, from a file`}
        accept=".txt,.csv,.tsv,.json,text/plain,text/csv,application/json"
        onChange={async ({ target }) => {
          const file = target.files?.[0];
          if (file) onChange(await textOf(file));
          target.value = "";
        }}
      />
      <Reading model={model} text={text} />
    </>
  );
}

/** What the server makes of the list. */
function Reading({ model, text }: { model: string; text: string }) {
  const settled = useSettled(text);
  const read = useQuery({ ...queries.heads(model, settled), enabled: model !== "" && settled.trim() !== "" });
  if (settled.trim() === "") return null;
  if (read.error)
    return (
      <p className="hint complaint" role="alert">
        <Words text={`${read.error.problem.detail} ${read.error.problem.remedy ?? ""}`} />
      </p>
    );
  if (!read.data) return null;
  const { heads, of_heads, text: canonical } = read.data;
  return (
    <p className="hint" role="status">
      {plural(heads.length, "head")} of {of_heads}
      {canonical !== settled && heads.length <= 40 ? `: ${canonical}` : ""}
    </p>
  );
}
