import { setTimeout as wait } from "node:timers/promises";
import { lockHolder, stateLockPath } from "../../../app/index.ts";
import { AppError } from "../../../base/errors.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson } from "../../io.ts";
import { serviceOf, signalProcess } from "./process.ts";
import { control } from "./service/service.ts";

/** Longer than a gateway takes to finish what it has accepted. */
const STOP_MS = 15_000;

async function waitForEnd(lock: string, pid: number): Promise<void> {
  const end = performance.now() + STOP_MS;
  while (lockHolder(lock)?.pid === pid) {
    if (performance.now() > end) throw new AppError("TIMEOUT", `process ${pid} did not end within ${STOP_MS / 1000} s; end it with: kill -9 ${pid}`);
    await wait(50);
  }
}

export const stop = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw gateway stop", does: "stop it and wait until it has ended" }],
  async run({ io, values }) {
    const stateDir = loadFor(io).paths.state;
    const lock = stateLockPath(stateDir);
    const holder = lockHolder(lock);
    if (!holder) {
      if (values.json) printJson(io, { ok: true, stopped: false });
      else io.out(`no gateway runs on ${stateDir}\n`);
      return;
    }
    const service = await serviceOf(io, holder);
    const problem = service && (await control(io, service.stop));
    if (problem !== undefined) throw new AppError("UNAVAILABLE", `${service?.label} could not be stopped: ${problem}`);
    if (!service) signalProcess(holder.pid, "SIGTERM", "stopped");
    await waitForEnd(lock, holder.pid);
    if (values.json) printJson(io, { ok: true, stopped: true, pid: holder.pid, ...(service ? { service: service.label } : {}) });
    else io.out(`stopped process ${holder.pid}${service ? ` (${service.label})` : ""}\n`);
  },
});
