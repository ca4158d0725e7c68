import { setTimeout as pause } from "node:timers/promises";
import type { EditResult } from "./config-edit.ts";
import { loadFor } from "./config-source.ts";
import { tryGateway } from "./gateway-call.ts";
import { findTarget } from "./gateway-target.ts";
import type { Io } from "./io.ts";

/** A gateway follows the file after `gateway.reload.debounceMs`, 300 ms by default. */
const PATIENCE_MS = 5_000;
const LOOK_MS = 50;

/** Waits until the running gateway uses what was written, so that the next command finds it. False when none does, or not in time. */
export async function untilApplied(io: Io, { gateway, files }: EditResult): Promise<boolean> {
  if (gateway !== "takes it over" || files.length === 0) return false;
  const target = await findTarget(io, {});
  if (target.kind !== "local") return false;
  const end = performance.now() + PATIENCE_MS;
  const { value } = await tryGateway(io, target, PATIENCE_MS, async (client) => {
    for (;;) {
      const inUse = await client.request("config.get", {});
      // Others may have written since.
      if (inUse.hash === loadFor(io).snapshot.hash) return true;
      if (performance.now() > end) return false;
      await pause(LOOK_MS);
    }
  });
  return value === true;
}
