import { setTimeout as wait } from "node:timers/promises";
import { lockHolder, type LockHolder } from "../../../base/instance-lock.ts";
import { stateLockPath } from "../../../config/index.ts";
import { AppError } from "../../../base/errors.ts";
import { isRunning } from "../../../base/process-identity.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { tryGateway } from "../../gateway-call.ts";
import { localTarget, openForReading } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";
import { serviceOf, signalProcess } from "./stop.ts";
import type { ServiceDefinition } from "./service/definition.ts";
import { control, installedService } from "./service/service.ts";

/** Longer than runs may hold up a restart, and than it takes then. */
const RESTART_MS = 60_000;
const LOOK_MS = 25;
const ANSWER_MS = 5000;

async function restartService(io: Io, service: ServiceDefinition, json: boolean): Promise<void> {
  const problem = await control(io, service.restart);
  if (problem !== undefined) throw new AppError("UNAVAILABLE", `${service.label} could not be restarted: ${problem}`);
  if (json) printJson(io, { ok: true, label: service.label });
  else io.out(`restarted ${service.label}\n`);
}

/** A process writes its lock again once its gateway is open again. */
export async function waitForReturn(lock: string, before: LockHolder, atMostMs = RESTART_MS): Promise<LockHolder> {
  const end = performance.now() + atMostMs;
  for (;;) {
    const now = lockHolder(lock);
    // While a restored state folder takes the place of the old one, there is no lock for a moment.
    if (!now && isRunning(before) && performance.now() < end) {
      await wait(LOOK_MS);
      continue;
    }
    if (now?.pid !== before.pid) throw new AppError("UNAVAILABLE", `process ${before.pid} ended instead of coming back; its log says why: openclaw logs`);
    if (now.createdAt !== before.createdAt) return now;
    if (performance.now() > end)
      throw new AppError("TIMEOUT", `process ${before.pid} did not restart its gateway within ${atMostMs / 1000} s; its log says why: openclaw logs`);
    await wait(LOOK_MS);
  }
}

/** Has a running process restart its gateway, and waits until that answers. */
async function restartInPlace(io: Io, lock: string, holder: LockHolder, json: boolean): Promise<void> {
  const { snapshot } = loadFor(io);
  if (snapshot.config.commands?.restart === false)
    throw new AppError(
      "PERMISSION_DENIED",
      `commands.restart is false in ${snapshot.path}, so the gateway takes no restart from outside; end it with \`openclaw gateway stop\` and start it again`,
    );
  if (holder.port === undefined) throw new AppError("UNAVAILABLE", `process ${holder.pid} is still starting; try again in a moment`);
  const started = performance.now();
  signalProcess(holder.pid, "SIGUSR1", "restarted");
  await waitForReturn(lock, holder);
  const durationMs = Math.round(performance.now() - started);
  using config = await openForReading(io);
  const target = await localTarget(io, config);
  const answer = await tryGateway(io, target, ANSWER_MS, (client) => client.request("health", {}));
  if (!answer.ok) throw new AppError("UNAVAILABLE", `process ${holder.pid} restarted its gateway, but it does not answer: ${answer.error}`);
  if (json) printJson(io, { ok: true, restarted: true, pid: holder.pid, url: target.url, durationMs });
  else io.out(`restarted: process ${holder.pid} answers on ${target.url} again (after ${durationMs} ms)\n`);
}

export const restart = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw gateway restart", does: "restart it and wait until it answers again" }],
  async run({ io, values }) {
    const json = values.json ?? false;
    const stateDir = loadFor(io).paths.state;
    const lock = stateLockPath(stateDir);
    const holder = lockHolder(lock);
    if (holder) {
      const service = await serviceOf(io, holder);
      return service ? restartService(io, service, json) : restartInPlace(io, lock, holder, json);
    }
    const service = installedService(io);
    if (service) return restartService(io, service, json);
    throw new AppError(
      "NOT_FOUND",
      `no gateway runs on ${stateDir}: start one with \`openclaw gateway\`, or let it start with the machine with \`openclaw gateway install\``,
    );
  },
});
