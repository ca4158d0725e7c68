import { isObject } from "../../config/index.ts";
import type { PluginEntry, PluginManifest, PluginOrigin } from "../record.ts";
import { isUninvited, type Found } from "./found.ts";
import { checkPluginConfig, describeFindings, missingSettings, type ConfigFinding } from "./plugin-config.ts";
import type { Remark } from "./remark.ts";
import { child, isNamed, type PluginSettings } from "./settings.ts";
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isInside } from "./safety.ts";

/** Folders of skills that a manifest names, and what is wrong with the others. `rootDir` has its links resolved. */
function skillFolders(rootDir: string, manifest: PluginManifest): { readonly folders: readonly string[]; readonly problems: readonly string[] } {
  const folders: string[] = [];
  const problems: string[] = [];
  for (const name of manifest.skills ?? []) {
    const folder = folderAt(resolve(rootDir, name));
    if (folder === undefined) problems.push(`"skills" names ${JSON.stringify(name)}, which is not a folder in the plugin`);
    else if (!isInside(rootDir, folder)) problems.push(`"skills" names ${JSON.stringify(name)}, which is outside the plugin's folder`);
    else folders.push(folder);
  }
  return { folders, problems };
}

function folderAt(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? realpathSync.native(path) : undefined;
  } catch {
    return undefined; // Not there, or not to be looked at: both are no folder to serve skills from.
  }
}

/** A plugin as the decision sees it. */
export interface Subject {
  readonly id: string;
  readonly origin: PluginOrigin;
  readonly kinds: readonly string[];
  /** `enabledByDefault` of a bundled plugin's manifest. */
  readonly defaultOn: boolean;
  /** Why the configuration needs it without naming it: `channel telegram is configured`. */
  readonly need: string | undefined;
}

interface Decision {
  readonly enabled: boolean;
  /** Always there for what is off; for what is on, where that is not the default. */
  readonly reason?: string;
}

/** Bundled plugins that are on without being asked for. */
const DEFAULT_ON = new Set(["device-pair", "phone-control", "talk-voice"]);

const on = (reason?: string): Decision => (reason === undefined ? { enabled: true } : { enabled: true, reason });
const off = (reason: string): Decision => ({ enabled: false, reason });

/** Whether a plugin is on, and why. The first rule that fits decides; then a memory plugin must have the memory slot. */
export function decide(subject: Subject, settings: PluginSettings): Decision {
  const decision = byRules(subject, settings);
  if (!decision.enabled || !subject.kinds.includes("memory") || settings.memorySlot === subject.id) return decision;
  return off(settings.memorySlot === null ? "memory slot disabled" : `memory slot set to "${settings.memorySlot}"`);
}

function byRules({ id, origin, defaultOn, need }: Subject, settings: PluginSettings): Decision {
  if (!settings.enabled) return off("plugins disabled");
  if (settings.deny.has(id)) return off("blocked by denylist");
  // A channel or provider that is configured counts as allowed: the operator asked for it where it is set up.
  if (settings.allow.length > 0 && !settings.allow.includes(id) && need === undefined) return off("not in allowlist");
  const asked = settings.entries.get(id)?.enabled;
  if (origin === "workspace") {
    if (asked === false) return off("disabled in config");
    return isNamed(settings, id) ? on("named in config") : off("workspace plugin (disabled by default)");
  }
  if (settings.memorySlot === id) return on("holds the memory slot");
  if (asked !== undefined) return asked ? on("enabled in config") : off("disabled in config");
  if (origin !== "bundled") return on();
  if (defaultOn || DEFAULT_ON.has(id)) return on("bundled (enabled by default)");
  return need === undefined ? off("bundled (disabled by default)") : on(need);
}

export interface EntryContext {
  readonly settings: PluginSettings;
  /** Why the configuration needs a bundled plugin, by id. */
  readonly needs: ReadonlyMap<string, string>;
  /** The plugin that its id belongs to. */
  readonly winner: Found | undefined;
  readonly tell: (remark: Remark) => void;
}

/** What was decided about a plugin. The settings of one that is on are checked against its manifest. */
export function entryOf(plugin: Found, context: EntryContext): PluginEntry {
  const { id, manifest, issue } = plugin;
  const given = context.settings.entries.get(id) ?? { hasConfig: false, config: undefined };
  const decision = enableState(plugin, context);
  const entry: PluginEntry = {
    id,
    name: manifest.name ?? id,
    ...described(plugin),
    origin: plugin.origin,
    rootDir: plugin.rootDir,
    source: plugin.source,
    manifest,
    ...decision,
    explicit: isNamed(context.settings, id),
    ...(isObject(given.config) ? { pluginConfig: given.config } : {}),
    ...cardOf(plugin),
  };
  if (issue) return { ...entry, error: issue.message };
  if (!decision.enabled) return entry;
  const findings = checkPluginConfig(id, manifest, given);
  for (const finding of findings) context.tell(remarkOf(plugin, finding));
  const skills = skillFolders(plugin.rootDir, manifest);
  for (const message of skills.problems) context.tell({ level: "warn", code: "skills-missing", message, pluginId: id, source: plugin.rootDir });
  const wrong = findings.filter(({ code }) => code !== "schema-invalid");
  const missing = wrong.some(({ level }) => level === "error") ? [] : missingSettings(wrong);
  return {
    ...entry,
    ...(skills.folders.length > 0 ? { skillDirs: skills.folders } : {}),
    ...(wrong.length > 0 ? { error: describeFindings(wrong) } : {}),
    ...(missing.length > 0 ? { missingSettings: missing } : {}),
  };
}

/** A finding about settings is placed in the configuration; one about the schema itself in the plugin's manifest. */
function remarkOf({ id, manifestFile, lineOf }: Found, { level, path, message, code }: ConfigFinding): Remark {
  if (code !== "schema-invalid" || manifestFile === undefined) return { level, code, message, pluginId: id, at: path };
  const within = ["configSchema", ...path.slice(4).flatMap((key) => (typeof key === "number" ? ["items"] : ["properties", key]))];
  return { level, code, message: `"${within.join(".")}": ${message}`, pluginId: id, source: manifestFile, ...(lineOf ? { line: lineOf(within) } : {}) };
}

function enableState(plugin: Found, { settings, needs, winner }: EntryContext): Decision {
  if (plugin.issue) return { enabled: false, reason: "broken manifest" };
  if (winner && winner !== plugin && !isUninvited(plugin, plugin.id, settings)) return { enabled: false, reason: `overridden by ${winner.origin} plugin` };
  const bundled = plugin.origin === "bundled";
  const { id, origin, manifest } = plugin;
  const subject = {
    id,
    origin,
    kinds: [manifest.kind ?? []].flat(),
    defaultOn: bundled && manifest.rest["enabledByDefault"] === true,
    need: bundled ? needs.get(id) : undefined,
  };
  return decide(subject, settings);
}

function described({ manifest, package: info }: Found): { version?: string; description?: string } {
  const version = manifest.version ?? info?.version;
  const description = manifest.description ?? info?.description;
  return { ...(version === undefined ? {} : { version }), ...(description === undefined ? {} : { description }) };
}

function cardOf({ package: info }: Found): { channelCard?: Readonly<Record<string, unknown>> } {
  const card = child(info?.block, "channel");
  return Object.keys(card).length > 0 ? { channelCard: card } : {};
}
