import { setTimeout as wait } from "node:timers/promises";
import { AppError } from "../../../base/errors.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { findService, isInstalled, serviceState } from "../gateway/service/service.ts";
import { signalProcess } from "../gateway/stop.ts";
import { nodeService } from "./install.ts";
import { gatewayUrl, loadSettings, runningNode } from "./settings.ts";

const STOP_MS = 10_000;

async function serviceFacts(io: Io): Promise<{ readonly label?: string; readonly installed: boolean; readonly detail?: string }> {
  const service = findService(io, { node: nodeService() });
  if (!service) return { installed: false };
  const installed = isInstalled(service);
  return { label: service.label, installed, ...(installed ? { detail: (await serviceState(io, service)).detail } : {}) };
}

export const status = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw node status --json", does: "for machines" }],
  async run({ io, values }) {
    const stateDir = loadFor(io).paths.state;
    const settings = loadSettings(stateDir);
    const process = runningNode(stateDir);
    const service = await serviceFacts(io);
    const url = gatewayUrl(settings);
    if (values.json)
      return printJson(io, { running: process !== undefined, pid: process?.pid ?? null, gateway: url, displayName: settings.displayName ?? null, service });
    io.out(`Node      ${process ? `running (process ${process.pid})` : "not running"}\n`);
    io.out(`Gateway   ${url}\n`);
    io.out(
      `Service   ${service.label === undefined ? "not available on this platform" : service.installed ? `${service.label}: ${service.detail ?? ""}` : "not installed"}\n`,
    );
  },
});

export const stop = defineCommand({
  options: { json: JSON_OPTION },
  examples: [],
  async run({ io, values }) {
    const stateDir = loadFor(io).paths.state;
    const found = runningNode(stateDir);
    if (found) {
      signalProcess(found.pid, "SIGTERM", "stopped");
      const end = performance.now() + STOP_MS;
      while (runningNode(stateDir)) {
        if (performance.now() > end)
          throw new AppError("TIMEOUT", `process ${found.pid} did not end within ${STOP_MS / 1000} s; end it with: kill -9 ${found.pid}`);
        await wait(50);
      }
    }
    if (values.json) printJson(io, { ok: true, stopped: found !== undefined, ...(found ? { pid: found.pid } : {}) });
    else io.out(found ? `Stopped process ${found.pid}\n` : "No node runs on this state folder\n");
  },
});
