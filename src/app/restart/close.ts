import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import { RESTARTING } from "../../gateway/index.ts";
import type { OpenGateway } from "../open-gateway.ts";
import { waitUntil } from "./wait.ts";

/** How long requests and runs may go on once nothing new is taken. */
const DRAIN_MS = 10_000;
const LOOK_MS = 10;

/** Closes a gateway that comes back: nothing new is taken, clients are told, what was begun is finished within the limit, connections are closed. */
export async function closeForRestart(open: OpenGateway, { clock, log }: { readonly clock: Clock; readonly log: Logger }): Promise<void> {
  open.announceRestart();
  const isDone = (): boolean => open.gateway.running() + open.runs() === 0;
  if (!(await waitUntil(isDone, { clock, everyMs: LOOK_MS, forMs: DRAIN_MS }))) {
    log.warn(`${open.gateway.running()} requests and ${open.runs()} runs were not finished before the restart; runs go on after it`);
  }
  // Whoever waits over HTTP for one of them is told; clients are gone by then, and ask again.
  await open.drain(RESTARTING, 0);
  await open.closeForRestart();
}
