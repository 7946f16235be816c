import { useState } from "react";
import { type ApiError, asApiError } from "../api/errors";
import { labApi } from "../api/lab";
import type { SharedLab } from "../api/labTypes";
import type { Shared } from "../api/types";
import { moment } from "../format/numbers";
import { ProblemNote } from "../parts/ProblemNote";
import { go } from "../url/navigation";
import { LabBody } from "./LabBody";
import { toParam } from "./state/gates";
import { SharedLabProvider } from "./state/SharedLabProvider";
import { useLab } from "./state/useLab";

/** A lab view that someone shared, from what the share keeps. */
export default function SharedLabPage({ share, shared }: { share: Shared; shared: SharedLab }) {
  return (
    <SharedLabProvider shared={shared} view={share.view}>
      <Frame share={share} />
      <LabBody />
    </SharedLabProvider>
  );
}

function Frame({ share }: { share: Shared }) {
  const [error, setError] = useState<ApiError>();
  const lab = useLab();
  const open = async () => {
    const { prompt, view, gates, sizes } = lab;
    if (prompt.text === null || !sizes) return;
    try {
      const { id } = await labApi.keepPrompt(prompt.text);
      const mute = toParam(gates, sizes) || null;
      go({ page: "lab", ...view, prompt: id, mute, gates: null });
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };
  return (
    <div className="page shared-lab">
      <p className="shared-frame">
        Shared view of the prompt lab · made {moment(share.created_at)}
        {share.expires_at && ` · open until ${moment(share.expires_at)}`}
        <button type="button" className="link-button" onClick={() => void open()}>
          open in the lab
        </button>
      </p>
      {error && <ProblemNote error={error} />}
    </div>
  );
}
