// The prompt lab's answers: everything that its page asks for at first.
import { answering, type Network, type Routes } from "./network";
import { ABSENT, analysis, EXAMPLE, gates, LARGE, look, model } from "./samples";

const TINY = model();

export const HEAD_EFFECT = {
  model: "tiny",
  layer: 1,
  head: 3,
  loss: { dtype: "f4", shape: "0", bdata: "" },
  loss_repeat: [0.5, 2, 1.25],
};

export function playLab(routes: Routes = {}): Network {
  return answering({
    "GET /api/v1/models": [TINY, LARGE, ABSENT],
    "GET /api/v1/prompts/examples": [EXAMPLE],
    "GET /api/v1/analyses": [analysis("chg", { offers_gates: true }), analysis("eigen")],
    "GET /api/v1/runs": { runs: [], total: 0 },
    "POST /api/v1/lab/look": look(),
    "POST /api/v1/lab/gates": gates(),
    "POST /api/v1/lab/ablation": HEAD_EFFECT,
    ...routes,
  });
}
