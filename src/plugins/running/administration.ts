import { planReload, type ConfigEdit } from "../../config/index.ts";
import type { PluginAdminPort, SwitchEffect } from "../../gateway/index.ts";
import { findPlugin, switchPlugin } from "../inventory/switch.ts";
import { readInventory, type Inventory } from "../inventory/inventory.ts";
import { type InstallDeps } from "../install/deps.ts";
import { inventoryOptions } from "../inventory/gateway-inventory.ts";
import type { PluginAdminDeps } from "./gateway-ports.ts";
import { unloadablePlugins } from "./trial.ts";

/** The answer is sent before the gateway goes. */
const RESTART_DELAY_MS = 1000;

const UNCHANGED: SwitchEffect = { restart: false, does: "Nothing had to change." };

/** What the running gateway does when plugins are turned on or off: in the default reload mode it restarts. */
function planned({ config }: PluginAdminDeps): SwitchEffect {
  const mode = config.current.gateway?.reload?.mode ?? "hybrid";
  const { actions } = planReload(["plugins.entries"], mode, []);
  if (actions.some(({ kind }) => kind === "process")) return { restart: true, does: "The gateway restarts to apply it." };
  return { restart: false, does: `Takes effect at the gateway's next restart: gateway.reload.mode is ${mode}. Run: openclaw gateway restart` };
}

/** One request. Its edits request no restart themselves, so that the request ends first. */
function createChange(deps: PluginAdminDeps, by: string): { edit(edit: ConfigEdit): Promise<void>; end(): SwitchEffect } {
  let changed = false;
  return {
    async edit(edit) {
      const { files } = await deps.config.edit(edit, { by, restartFollows: planned(deps).restart });
      changed ||= files.length > 0;
    },
    end() {
      if (!changed) return UNCHANGED;
      const effect = planned(deps);
      if (!effect.restart) return effect;
      return { ...effect, restart: deps.requestRestart({ reason: by, delayMs: RESTART_DELAY_MS }, { urgent: true }).ok };
    },
  };
}

function installDeps(deps: PluginAdminDeps, edit: InstallDeps["edit"]): InstallDeps {
  const { config, clock, ids, plugins } = deps;
  const log = deps.log.subsystem("plugins");
  return {
    stateDir: config.paths.state,
    config: () => config.snapshot().resolved,
    edit,
    env: config.env(),
    cwd: config.paths.home,
    home: config.paths.home,
    pid: process.pid,
    clock,
    ids,
    hooks: plugins.hooks(),
    onStep: (what) => log.info(`install: ${what}`),
    // There is no terminal to ask in; the caller has decided.
    confirm: () => Promise.resolve(false),
  };
}

/** Turns plugins on and off, installs and removes them, in the running gateway. */
export function createAdministration(deps: PluginAdminDeps): PluginAdminPort {
  const { config, plugins } = deps;
  const inventory = (): Promise<Inventory> => readInventory(inventoryOptions(deps, config.snapshot().resolved));
  return {
    async enable(id, enabled) {
      const entry = findPlugin(await inventory(), id);
      const { path: file, resolved: written } = config.snapshot();
      const { edit, notes } = switchPlugin(entry, enabled, { written, file });
      const change = createChange(deps, enabled ? `plugins.enable ${id}` : `plugins.disable ${id}`);
      await change.edit(edit);
      const effect = change.end();
      const plugin = effect.restart ? undefined : (await plugins.port.list()).plugins.find((one) => one.id === id && one.source === entry.source);
      return { id, enabled: findPlugin(await inventory(), id).enabled, ...effect, notes, ...(plugin ? { plugin } : {}) };
    },
    async install({ spec, enable }) {
      const { installPlugin, withdrawShadowing } = await import("../install/index.ts");
      const change = createChange(deps, `plugins.install ${spec}`);
      const before = config.snapshot().resolved;
      const { ids, version, record, scan, notes } = await installPlugin({ spec, enable }, installDeps(deps, change.edit));
      const found = await inventory();
      const unloadable = deps.program ? await unloadablePlugins({ args: deps.program, cwd: deps.cwd, env: deps.env }, found, ids) : [];
      await withdrawShadowing({ unloadable, inventory: found, before }, installDeps(deps, change.edit));
      const findings = scan.findings.map(({ severity, message, file, line }) => {
        const position = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}: `;
        return `${severity}: ${position}${message}`;
      });
      const source = record.resolvedSpec ?? record.sourcePath ?? record.spec ?? record.source;
      const problems = unloadable.map(({ id, error, because }) =>
        because === "missing settings" ? `${id} ${error}` : `${id} is installed but cannot be loaded: ${error ?? "no reason given"}`,
      );
      return {
        id: ids[0] ?? "",
        ...(version === undefined ? {} : { version }),
        source,
        warnings: [...problems, ...findings, ...notes],
        ...(problems.length > 0 ? { problem: problems.join("; ") } : {}),
        ...change.end(),
      };
    },
    async uninstall(id) {
      const { uninstallPlugin } = await import("../install/index.ts");
      const named = (await inventory()).entries.filter((one) => one.id === id);
      const change = createChange(deps, `plugins.uninstall ${id}`);
      const entry = named.find(({ origin }) => origin === "global") ?? named[0];
      const { removed, deleted } = await uninstallPlugin({ id, entry, force: true }, installDeps(deps, change.edit));
      return { id, removed: [...removed, ...(deleted === undefined ? [] : [deleted])], ...change.end() };
    },
  };
}
