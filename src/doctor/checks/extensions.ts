import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundledSkillsFolder } from "../../base/program-folders.ts";
import { agentWorkspace, defaultAgentId, isObject, valueAt } from "../../config/index.ts";
import { isWaiting, pluginIssues, type Inventory, type PluginDiagnostic, type PluginEntry } from "../../plugins/index.ts";
import type { DoctorDeps } from "../deps.ts";
import type { Check, Finding } from "../finding.ts";

const PROBE_MS = 3000;

const sourceSuffix = ({ source, line }: PluginDiagnostic): string => (source === undefined ? "" : ` (${source}${line === undefined ? "" : `:${line}`})`);

/** Packages that a plugin names and that are nowhere above it. */
function missingPackages({ rootDir }: PluginEntry): string[] {
  let named: unknown;
  try {
    named = valueAt(JSON.parse(readFileSync(join(rootDir, "package.json"), "utf8")), ["dependencies"]);
  } catch {
    return [];
  }
  const isThere = (name: string): boolean => {
    for (let folder = rootDir; ; folder = dirname(folder)) {
      if (existsSync(join(folder, "node_modules", name))) return true;
      if (dirname(folder) === folder) return false;
    }
  };
  return isObject(named) ? Object.keys(named).filter((name) => !isThere(name)) : [];
}

function lacking({ entries }: Inventory): Finding[] {
  return entries
    .filter(({ enabled, origin }) => enabled && origin !== "bundled")
    .flatMap((entry): Finding[] => {
      const packages = missingPackages(entry);
      if (packages.length === 0) return [];
      return [
        {
          part: `${entry.id}-packages`,
          level: "error",
          text: `the plugin ${entry.id} needs packages that are not installed: ${packages.join(", ")}`,
          todo: `npm install in ${entry.rootDir}, or openclaw plugins update ${entry.id}`,
        },
      ];
    });
}

/** Plugins that cannot be loaded, and what is wrong with their settings. */
export const plugins: Check = {
  id: "plugins.state",
  topic: "workspace",
  title: "Plugins",
  async run({ inventory: read, failedPlugins, probe, config }) {
    const inventory = await read();
    const broken = inventory.entries.filter(({ enabled, error }) => enabled && error !== undefined);
    const reported = new Set(broken.map(({ id }) => id));
    // Only running the code shows whether it works.
    const asks = config.current.gateway?.mode !== "remote" && inventory.entries.some(({ enabled }) => enabled) && (await probe(PROBE_MS)).reachable;
    const failed = asks ? (await failedPlugins(PROBE_MS)).filter(({ id }) => !reported.has(id)) : [];
    return [
      ...broken.map(({ id, error, missingSettings }): Finding =>
        missingSettings
          ? { part: id, level: "warn", text: `the plugin ${id} ${error}`, todo: `openclaw plugins info ${id}` }
          : { part: id, level: "error", text: `the plugin ${id} cannot be loaded: ${error}`, todo: "openclaw plugins doctor" },
      ),
      ...failed.map(({ id, error }): Finding => ({
        part: id,
        level: "error",
        text: `the plugin ${id} could not be loaded by the running gateway: ${error}`,
        todo: `fix it, then run: openclaw plugins reload ${id}`,
      })),
      ...inventory.diagnostics
        .filter(({ pluginId }) => pluginId === undefined || !reported.has(pluginId))
        .map((remark): Finding => ({
          part: remark.pluginId ?? remark.code ?? "remark",
          level: remark.level,
          text: `${remark.path ?? remark.pluginId ?? "plugins"}: ${remark.message}${sourceSuffix(remark)}`,
          todo: "openclaw plugins doctor",
        })),
      ...lacking(inventory),
    ];
  },
};

/** Skills that lack a program, a variable or a setting. */
export const skills: Check = {
  id: "skills.programs",
  topic: "workspace",
  title: "Skills",
  async run({ config, env, cwd, osHome, platform, clock, inventory }) {
    const { createSkills } = await import("../../agent/index.ts");
    const workspace = agentWorkspace(config.current, { env, exists: existsSync, osHome, cwd }, defaultAgentId(config.current));
    const plugins = (await inventory()).entries.flatMap(({ enabled, error, skillDirs = [] }) => (enabled && error === undefined ? skillDirs : []));
    const places = () => ({ home: config.paths.home, stateFolder: config.paths.state, bundled: bundledSkillsFolder(env), plugins });
    using offered = createSkills({ config: () => config.current, places, env: config.env(), platform, clock });
    const { skills: found, problems } = await offered.status(workspace);
    const lacks = found.flatMap(({ name, eligible, disabled, blockedByAllowlist, missing }): string[] => {
      const needs = [...missing.bins, ...(missing.anyBins.length > 0 ? [`one of ${missing.anyBins.join(", ")}`] : []), ...missing.env, ...missing.config];
      // One for another system is not meant for this one.
      return eligible || disabled || blockedByAllowlist || missing.os.length > 0 || needs.length === 0 ? [] : [`${name} (${needs.join(", ")})`];
    });
    const ready = found.filter(({ eligible }) => eligible).length;
    return [
      ...problems.map(({ path, message }): Finding => ({ level: "warn", text: `${path}: ${message}`, todo: "fix the file" })),
      ...(lacks.length === 0
        ? []
        : [
            {
              part: "missing",
              level: "info" as const,
              text: `${ready} of ${found.length} skills are ready; others have missing requirements: ${lacks.join("; ")}`,
              todo: "see how to install them with: openclaw skills check; to disable a skill, set skills.entries.<name>.enabled to false",
            },
          ]),
    ];
  },
};

/** Channels that are configured: their plugin is there and on, and their settings fit. */
export const channels: Check = {
  id: "channels.config",
  topic: "gateway",
  title: "Channels",
  async run(deps: DoctorDeps) {
    const { config } = deps;
    const snapshot = config.snapshot();
    const sections = valueAt(snapshot.resolved, ["channels"]);
    if (!isObject(sections) || !snapshot.valid) return [];
    const inventory = await deps.inventory();
    const owners = (id: string): readonly PluginEntry[] => inventory.entries.filter(({ manifest }) => manifest.channels?.includes(id));
    const unowned = Object.entries(sections).flatMap(([id, section]): Finding[] => {
      if (id === "defaults" || !isObject(section) || section["enabled"] === false) return [];
      const [owner] = owners(id);
      if (!owner)
        return [
          {
            part: id,
            level: "error",
            text: `channels.${id} is configured, but no plugin provides that channel`,
            todo: "openclaw plugins list; openclaw plugins install <package>",
          },
        ];
      if (owners(id).some(({ enabled }) => enabled) || isWaiting(owner)) return [];
      return [
        {
          part: id,
          level: "warn",
          text: `channels.${id} is configured, but its plugin ${owner.id} is disabled: ${owner.reason ?? "disabled"}`,
          todo: `openclaw plugins enable ${owner.id}`,
        },
      ];
    });
    const wrong = pluginIssues({ snapshot, locate: config.locate }, inventory).filter(({ path }) => path.startsWith("channels."));
    return [
      ...unowned,
      ...wrong.map((issue): Finding => ({
        level: issue.severity === "error" ? "error" : "warn",
        text: `${issue.file}:${issue.line}: ${issue.path}: ${issue.message}`,
        todo: `fix line ${issue.line} of ${issue.file}`,
      })),
    ];
  },
};

/** Hooks from files that are meant to run and cannot. */
export const hooks: Check = {
  id: "hooks.files",
  topic: "workspace",
  title: "Hooks",
  async run({ config, env, osHome, cwd, platform }) {
    const { current, paths } = config;
    if (current.hooks?.internal?.enabled !== true || !config.snapshot().valid) return [];
    const { loadInternalHooks } = await import("../../automation/index.ts");
    const { findHooks, whyNot } = await loadInternalHooks();
    const workspaceDir = agentWorkspace(current, { env, exists: existsSync, osHome, cwd }, defaultAgentId(current));
    const places = { workspaceDir, stateDir: paths.state, home: paths.home, configDir: dirname(paths.file) };
    const found = await findHooks({ config: current, env: config.env(), platform, ...places });
    return [
      ...found.problems.map(({ path, message }): Finding => ({ level: "warn", text: `${path}: ${message}`, todo: "openclaw hooks check" })),
      ...found.hooks
        .filter(({ eligible, disabled }) => !eligible && !disabled)
        .map((hook): Finding => ({
          part: hook.name,
          level: "warn",
          text: `the hook ${hook.name} is not loaded: ${whyNot(hook)}`,
          todo: `openclaw hooks info ${hook.name}`,
        })),
    ];
  },
};
