import type { Model } from "../api/types";
import { bytes } from "../format/numbers";

/** A model's licence, a link where it is terms of use. */
export function Licence({ model }: { model: Model }) {
  if (!model.terms) return model.licence;
  return (
    <a href={model.terms.address} rel="noreferrer" target="_blank">
      {model.terms.name}
    </a>
  );
}

/** What a fetch takes, and the terms that it asks to accept. */
export function BeforeFetching({ model }: { model: Model }) {
  if (!model.bytes_to_download && !model.terms) return null;
  return (
    <p className="muted">
      {model.terms && (
        <>
          The <Licence model={model} /> apply; the command asks whether you accept them.{" "}
        </>
      )}
      {model.bytes_to_download && `${bytes(model.bytes_to_download)} to download. `}
      {model.bytes_needed && `Unpacking takes ${bytes(model.bytes_needed)} of disk.`}
    </p>
  );
}
