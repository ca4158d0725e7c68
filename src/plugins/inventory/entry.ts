import { isObject } from "../../config/index.ts";
import type { PluginEntry } from "../record.ts";
import { decide, type Decision } from "./enable.ts";
import { isUninvited, type Found } from "./found.ts";
import { checkPluginConfig, describeFindings, missingSettings, type ConfigFinding } from "./plugin-config.ts";
import type { Remark } from "./remark.ts";
import { child, isNamed, type PluginSettings } from "./settings.ts";
import { skillFolders } from "./skills.ts";

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
