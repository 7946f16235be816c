import type { PromptExample } from "../../api/labTypes";
import { parseHead } from "../../url/heads";
import { changed, indexOf, set } from "../state/gates";
import { useLab } from "../state/useLab";

/** What to try on a built-in prompt: the heads that it needs, muted by one click. */
export function Suggestion({ example }: { example: PromptExample }) {
  const { gates, setGates, sizes } = useLab();
  const heads = example.mute.map(parseHead).filter((head) => head !== null);
  const done = sizes !== null && heads.every((head) => gates[indexOf(sizes, head)] === 0);
  return (
    <div className="suggestion">
      <p>{example.reading}</p>
      {sizes && heads.length > 0 && (
        <button
          type="button"
          className={done ? "button" : "button primary"}
          onClick={() => {
            const at = heads.map((head) => indexOf(sizes, head));
            setGates(done ? set(gates, changed(gates), 1) : set(gates, at, 0));
          }}
        >
          {done ? "Open all heads again" : `Mute ${example.mute.join(", ")}`}
        </button>
      )}
    </div>
  );
}
