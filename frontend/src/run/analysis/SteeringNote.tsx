import { useQuery } from "@tanstack/react-query";
import { queries } from "../../api/queries";
import type { Run } from "../../api/types";
import { isSteering } from "../../results/headline";
import { Link } from "../../url/navigation";
import { DEFAULT_VIEW } from "../../url/view";

/** What is built on a steering map is said to be: older runs were, when such a map still spoke of roles. */
export function SteeringNote({ run }: { run: Run }) {
  const built = [run.params.gating, run.params.run].find((id) => typeof id === "string");
  const id = typeof built === "string" ? built : "";
  const gating = useQuery({ ...queries.run(id, null), enabled: id !== "" });
  if (!gating.data || !isSteering(gating.data.headline)) return null;
  return (
    <p className="limits" role="note">
      <span>
        The <Link to={{ page: "run", id, view: DEFAULT_VIEW }}>gating run</Link> that this is built on is a
        steering map: the model can’t do the task as it is, and where heads are called needed or harmful here,
        read what would lift its answers when open or shut.
      </span>
    </p>
  );
}
