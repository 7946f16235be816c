import { useMemo } from "react";
import { MOST_LOCKED } from "../../url/lab";
import { attentionOf, type Pattern } from "../pattern/triangle";
import { changed } from "../state/gates";
import type { Look } from "../state/look";
import { usePointed } from "../state/pointed";
import { useLab } from "../state/useLab";
import { TokenFlow } from "./TokenFlow";
import { TokenReadout } from "./TokenReadout";

/** The prompt as the model reads it: tokens, repeats, surprise before and under the gates. */
export function TokensCard({ look, pattern }: { look: Look; pattern: Pattern | null }) {
  const { view, move, gates, gated, head, looking, readOnly } = useLab();
  const { token } = usePointed();
  const length = look.tokens.length;
  const locked = useMemo(() => view.locked.filter((at) => at < length), [view.locked, length]);
  const gatesChanged = changed(gates).length > 0;
  const answer = gated.data?.tokens.length === length ? gated.data : undefined;
  const after = gatesChanged && answer ? answer.loss_after : null;
  const chosen = locked.length > 0 ? locked : token === null ? [] : [token];
  const key = chosen.join(",");
  const attention = useMemo(
    () => (pattern && key !== "" ? attentionOf(pattern, key.split(",").map(Number)) : null),
    [pattern, key],
  );
  const lock = (at: number) => {
    const next = locked.includes(at) ? locked.filter((one) => one !== at) : [...locked, at];
    move({ locked: next.slice(-MOST_LOCKED).sort((a, b) => a - b) }, { replace: true });
  };
  const clear = () => move({ locked: [] }, { replace: true });
  return (
    <section className="card tokens-card" aria-label="Tokens" aria-busy={looking || gated.busy}>
      <TokenFlow
        look={look}
        before={look.loss}
        after={after}
        locked={locked}
        onLock={lock}
        onClear={clear}
        attention={attention}
        sink={view.sink}
      />
      <TokenReadout
        look={look}
        before={look.loss}
        after={after}
        token={token}
        locked={locked}
        head={head}
        pattern={pattern}
        gatesChanged={gatesChanged}
        onAt={readOnly ? null : (at) => move({ at: at === length - 1 ? null : at })}
        onClear={clear}
      />
    </section>
  );
}
