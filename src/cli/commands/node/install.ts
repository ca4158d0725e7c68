import { AppError } from "../../../base/errors.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson } from "../../io.ts";
import { installService, uninstallService } from "../gateway/install.ts";
import { isInstalled, requireService, restartService } from "../gateway/service/service.ts";
import { changeSettings, HOST_OPTIONS } from "./settings.ts";

/** What the service runs. Which gateway it connects to is in its settings. */
export const nodeService = (): readonly string[] => ["node", "run"];

export const install = defineCommand({
  options: {
    ...HOST_OPTIONS,
    print: { type: "boolean", help: "Print the service file without installing it" },
    runtime: { type: "string", value: "node", help: "Accepted for compatibility; always node" },
    force: { type: "boolean", help: "Replace a service file that differs" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw node install --print", does: "Show what would be installed" }],
  async run({ io, values }) {
    if (values.runtime !== undefined && values.runtime !== "node") throw new AppError("INVALID_INPUT", `--runtime takes node, not "${values.runtime}"`);
    const service = requireService(io, { node: nodeService() });
    if (!values.print) changeSettings(loadFor(io).paths.state, values);
    return installService(io, service, values);
  },
});

export const uninstall = defineCommand({
  options: { print: { type: "boolean", help: "Print the commands without running them" }, json: JSON_OPTION },
  examples: [{ line: "openclaw node uninstall --print", does: "Show what would be removed" }],
  run: ({ io, values }) => uninstallService(io, requireService(io, { node: nodeService() }), values, "openclaw node stop"),
});

export const restart = defineCommand({
  options: { json: JSON_OPTION },
  examples: [],
  async run({ io, values }) {
    const service = requireService(io, { node: nodeService() });
    if (!isInstalled(service)) throw new AppError("NOT_FOUND", `${service.label} is not installed; install it with \`openclaw node install\``);
    const problem = await restartService(io, service);
    if (problem !== undefined) throw new AppError("UNAVAILABLE", `${service.label} could not be restarted: ${problem}`);
    if (values.json) printJson(io, { ok: true, label: service.label });
    else io.out(`Restarted ${service.label}\n`);
  },
});
