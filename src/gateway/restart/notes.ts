import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { SentinelPayload } from "../methods/deps.ts";
import type { SentinelDeps } from "./sentinel.ts";

/** Notes from a gateway to the one after its restart. Most starts find none: what reads and writes them is loaded when there is one. */
export interface RestartNotes {
  leave(payload: SentinelPayload, deps: { readonly ids: Ids; readonly log: Logger }): Promise<string | null>;
  take(deps: SentinelDeps): Promise<void>;
}

export function restartNotes(stateDir: string): RestartNotes {
  const path = join(stateDir, "restart-sentinel.json");
  return {
    leave: async (payload, deps) => (await import("./sentinel.ts")).leaveSentinel(path, payload, deps),
    async take(deps) {
      if (existsSync(path)) await (await import("./sentinel.ts")).takeSentinel(path, deps);
    },
  };
}
