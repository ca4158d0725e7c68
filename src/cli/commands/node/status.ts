import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { loadHostDevices } from "../../../nodes/index.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { findService, isInstalled, serviceState } from "../gateway/service/service.ts";
import { signalProcess } from "../gateway/stop.ts";
import { nodeService } from "./install.ts";
import { gatewayUrl, loadSettings, nodeFolder, runningNode } from "./settings.ts";

const STOP_MS = 10_000;

async function serviceFacts(io: Io): Promise<{ readonly label?: string; readonly installed: boolean; readonly detail?: string }> {
  const service = findService(io, { node: nodeService() });
  if (!service) return { installed: false };
  const installed = isInstalled(service);
  return { label: service.label, installed, ...(installed ? { detail: (await serviceState(io, service)).detail } : {}) };
}

const LABELS = { commands: "Commands", camera: "Camera", screen: "Screen", location: "Location" } as const;

/** What the gateway may see and hear here, and why not. A node that runs has it since its start. */
async function deviceFacts(io: Io, config: OpenClawConfig, folder: string) {
  const { hostDevices } = await loadHostDevices();
  const found = hostDevices({ clock: systemClock, config: () => config, env: io.env, platform: process.platform, folder });
  const commands = process.platform === "win32" ? [{ name: "commands", available: false, text: "not available on Windows: run the node in WSL" } as const] : [];
  return [...commands, ...found.map(({ name, commands, text }) => ({ name, available: commands.length > 0, text }))];
}

export const status = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw node status --json", does: "Print JSON" }],
  async run({ io, values }) {
    const { paths, snapshot } = loadFor(io);
    const stateDir = paths.state;
    const settings = loadSettings(stateDir);
    const process = runningNode(stateDir);
    const devices = await deviceFacts(io, snapshot.config, nodeFolder(stateDir));
    const service = await serviceFacts(io);
    const url = gatewayUrl(settings);
    if (values.json)
      return printJson(io, {
        running: process !== undefined,
        pid: process?.pid ?? null,
        gateway: url,
        displayName: settings.displayName ?? null,
        service,
        devices,
      });
    io.out(`Node      ${process ? `running (process ${process.pid})` : "not running"}\n`);
    io.out(`Gateway   ${url}\n`);
    io.out(
      `Service   ${service.label === undefined ? "not available on this platform" : service.installed ? `${service.label}: ${service.detail ?? ""}` : "not installed"}\n`,
    );
    for (const { name, text } of devices) io.out(`${LABELS[name].padEnd(9)} ${text}\n`);
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
          throw new AppError("TIMEOUT", `process ${found.pid} did not stop within ${STOP_MS / 1000} s; stop it with: kill -9 ${found.pid}`);
        await wait(50);
      }
    }
    if (values.json) printJson(io, { ok: true, stopped: found !== undefined, ...(found ? { pid: found.pid } : {}) });
    else io.out(found ? `Stopped process ${found.pid}\n` : "No node is running on this state folder\n");
  },
});
