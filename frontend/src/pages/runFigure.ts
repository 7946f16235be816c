import { api } from "../api/client";
import { type Resource, useResource } from "../api/resource";
import type { Figure, Run } from "../api/types";

/** A figure that follows nothing but the run: asked for once, however many cards show it. */
export function useRunFigure(run: Pick<Run, "id">, name: string, share: string | null): Resource<Figure> {
  return useResource(`figure ${run.id} ${name}`, (signal) => api.figure(run.id, name, { share }, signal), {
    fixed: true,
  });
}
