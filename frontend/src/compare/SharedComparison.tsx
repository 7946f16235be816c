import { useState } from "react";
import type { Shared } from "../api/types";
import { moment } from "../format/numbers";
import { type CompareView, parseCompare } from "../url/compare";
import { Link } from "../url/navigation";
import { CompareBody } from "./CompareBody";

/** A comparison that someone shared; a guest may look round among its runs without changing the link. */
export default function SharedComparison({ share }: { share: Shared }) {
  const runs = share.runs.map(({ id }) => id);
  const [comparison, setComparison] = useState<CompareView>(() => ({
    ...parseCompare(new URLSearchParams(share.view)),
    runs,
  }));
  return (
    <div className="page">
      <p className="shared-frame">
        Shared comparison · made {moment(share.created_at)}
        {share.expires_at && ` · open until ${moment(share.expires_at)}`}
        <Link to={{ page: "compare", ...comparison }}>open in Headscope</Link>
      </p>
      <h1>Compare</h1>
      <CompareBody
        runs={share.runs}
        comparison={comparison}
        onComparison={setComparison}
        share={share.token}
      />
    </div>
  );
}
