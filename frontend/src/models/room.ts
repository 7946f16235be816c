import type { KnownModel } from "../api/types";
import { bytes } from "../format/numbers";

/** What a model takes, and whether that is here. */
export function room(model: Pick<KnownModel, "fits" | "memory_float32" | "memory_bfloat16">): string {
  const whole = bytes(model.memory_float32);
  if (model.fits === "bfloat16")
    return `${whole}: too much here; ${bytes(model.memory_bfloat16)} in bfloat16`;
  return model.fits === "no" ? `${whole}: too much here` : whole;
}
