import { findTarget } from "../gateway-target.ts";
import { tryGateway } from "../gateway-call.ts";
import type { Io } from "../io.ts";

const TRIES = 10;
const PAUSE_MS = 1000;
const CALL_MS = 3000;

/** What the gateway of this machine says about itself; undefined when it does not answer in some seconds, which a service may need to start. */
export async function healthOf(io: Io): Promise<string | undefined> {
  const { setTimeout: pause } = await import("node:timers/promises");
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answered = await tryGateway(io, await findTarget(io, {}), CALL_MS, (client) => client.request("health", {}));
    if (answered.ok && answered.value) return `ready in ${answered.latencyMs} ms, ${answered.value.channelOrder.length} channels`;
    await pause(PAUSE_MS);
  }
  return undefined;
}
