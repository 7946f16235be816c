// Runs that a page starts, as a test plays them: what was sent is kept, and the answer is a run called "new".
import { vi } from "vitest";
import type { Run } from "../api/types";

export function startedLike(run: Run): unknown[] {
  const sent: unknown[] = [];
  vi.stubGlobal("scrollTo", () => {});
  vi.stubGlobal("fetch", async (request: Request) => {
    sent.push(await request.json());
    return new Response(JSON.stringify({ ...run, id: "new" }), { status: 202 });
  });
  return sent;
}
