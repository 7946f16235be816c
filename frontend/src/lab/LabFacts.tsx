import { number, plural } from "../format/numbers";
import type { Look } from "./state/look";
import { useLab } from "./state/useLab";
import { bosInWords } from "./words";

/** How many tokens, whether BOS stands first, what repeats and its loss; two of these are switches. */
export function LabFacts({ look }: { look: Look }) {
  const { view, move, readOnly } = useLab();
  const repeats = look.copies.filter((earlier) => earlier.length > 0).length;
  const added = look.bos === "added" || look.bos === "doubled";
  const askedInVain = view.bos === true && !added;
  return (
    <p className="facts lab-facts">
      <span>{plural(look.tokens.length, "token")}</span>
      <span>
        {bosInWords(look.bos)}
        {askedInVain && ": this model’s tokenizer has none"}
        {!readOnly && !askedInVain && (
          <button
            type="button"
            className="link-button"
            onClick={() => move({ bos: !added, locked: [], at: null }, { replace: true })}
          >
            {added ? "leave it out" : "put one first"}
          </button>
        )}
      </span>
      <span>
        <b>{repeats}</b> of them {repeats === 1 ? "repeats" : "repeat"} an earlier one
        {view.fold ? ", whatever their case and spaces" : ", exactly"}
        {!readOnly && (
          <button
            type="button"
            className="link-button"
            onClick={() => move({ fold: !view.fold }, { replace: true })}
          >
            {view.fold ? "only exact ones" : "ignore case and spaces"}
          </button>
        )}
      </span>
      {look.loss_first !== null && (
        <span title="Mean loss. Repeats count where the token before repeats too: induction can predict those.">
          loss <b>{number(look.loss_first)}</b> nats on new tokens
          {look.loss_repeat !== null && (
            <>
              , <b>{number(look.loss_repeat)}</b> on repeats
            </>
          )}
        </span>
      )}
    </p>
  );
}
