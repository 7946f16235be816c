import { number, percent } from "../../format/numbers";
import { spaced } from "../../tokens/visible";
import { type Head, headName } from "../../url/heads";
import { attentionOf, type Pattern } from "../pattern/triangle";
import type { Look } from "../state/look";
import { tokenInWords } from "../words";

interface Facts {
  look: Look;
  before: ArrayLike<number | null>;
  after: ArrayLike<number | null> | null;
}

function nats(value: number | null | undefined): string {
  return `${number(value)} nats (${percent(value === null || value === undefined ? null : Math.exp(-value))})`;
}

/** One token's place, loss and copies, as a sentence. */
export function tokenFacts({ look, before, after }: Facts, at: number): string {
  const token = look.tokens[at];
  const bytes = token?.glyph ? `, bytes ${spaced(token.hex)}` : "";
  const lacking = token?.unknown ? ": unknown, the vocabulary lacks it" : "";
  const special = token?.special ? ", special" : "";
  const parts = [`Token ${at} ${tokenInWords(token)}${special} (id ${token?.id}${lacking}${bytes})`];
  const loss = before[at];
  if (at === 0) parts.push("nothing predicts the first token");
  else if (loss !== null && loss !== undefined && !Number.isNaN(loss))
    parts.push(after ? `loss ${nats(loss)} → ${nats(after[at])}` : `loss ${nats(loss)}`);
  const copies = look.copies[at] ?? [];
  const last = copies.at(-1);
  if (last !== undefined) {
    const times = copies.length > 1 ? ` and ${copies.length - 1} more before` : "";
    parts.push(`seen at ${last}${times}, where ${tokenInWords(look.tokens[last + 1])} came next`);
  }
  return parts.join(" · ");
}

/** The strongest of some weights, as words: "·dragon 54 %, ·the 12 %". */
function strongest(look: Look, weights: Float32Array, most: number): string {
  return [...weights.entries()]
    .filter(([, weight]) => weight >= 0.005)
    .sort((a, b) => b[1] - a[1])
    .slice(0, most)
    .map(([at, weight]) => `${tokenInWords(look.tokens[at])} (${at}) ${percent(weight)}`)
    .join(", ");
}

/** Where a head looks from the pinned tokens, and which tokens look at them. */
export function attentionFacts(look: Look, head: Head, pattern: Pattern, tokens: readonly number[]): string {
  const { looks, seen } = attentionOf(pattern, tokens);
  const rest = tokens.reduce((sum, token) => sum + pattern.rest(token), 0);
  const them = tokens.length > 1 ? `these ${tokens.length} tokens (sum)` : "this token";
  const where = strongest(look, looks, 4) || "nowhere in particular";
  const who = strongest(look, seen, 3) || "hardly any token";
  const left = rest > 0.01 ? `, ${percent(rest)} on tokens with less weight` : "";
  const sink = tokens.reduce((sum, token) => sum + pattern.sink(token), 0);
  const away = sink > 0.01 ? `, ${percent(sink)} on no token, but on the model's learned sink` : "";
  return `Through ${headName(head)} ${them} looks at ${where}${left}${away}; looked at by ${who}`.replace(
    /(tokens \(sum\)) looks/,
    "$1 look",
  );
}

interface TokenReadoutProps extends Facts {
  /** The token under the pointer or the keys. */
  token: number | null;
  locked: readonly number[];
  head: Head | null;
  pattern: Pattern | null;
  gatesChanged: boolean;
  /** Null where nothing can be asked. */
  onAt: ((at: number) => void) | null;
  onClear: () => void;
}

/** The numbers of the pinned or pointed-at token, as text, or how to read the picture where there is none. */
export function TokenReadout(props: TokenReadoutProps) {
  const { look, token, locked, head, pattern, gatesChanged, onAt, onClear } = props;
  const tokens = token !== null && locked.length === 0 ? [token] : locked;
  const shown = token ?? locked.at(-1) ?? null;
  return (
    <div className="token-readout">
      <div aria-live="polite">
        {shown === null ? (
          <p className="caption">
            Arcs join a token to its earlier occurrences; the underline is its loss,{" "}
            <b className="before">blue</b> ungated{gatesChanged && ", "}
            {gatesChanged && <b className="after">red</b>}
            {gatesChanged && " gated"}; at 10 nats it is as wide as the token. Point at a token for its
            numbers; click to pin it.
          </p>
        ) : (
          <p className="caption facts-line">{tokenFacts(props, shown)}</p>
        )}
        {head && pattern && tokens.length > 0 && (
          <p className="caption">{attentionFacts(look, head, pattern, tokens)}.</p>
        )}
      </div>
      {locked.length > 0 && (
        <p className="token-actions">
          {onAt && (
            <button type="button" className="link-button" onClick={() => onAt(locked.at(-1) ?? 0)}>
              Read the next token after {locked.at(-1)}
            </button>
          )}
          <button type="button" className="link-button" onClick={onClear}>
            Unpin {locked.length === 1 ? "it" : `all ${locked.length}`}
          </button>
        </p>
      )}
    </div>
  );
}
