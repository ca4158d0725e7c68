import type { ValuePath } from "../../config/index.ts";
import { ORIGINS, type PluginManifest } from "../record.ts";
import type { Candidate } from "./candidate.ts";
import { emptyManifest, readManifest, type ManifestIssue } from "./manifest.ts";
import { isPluginId } from "./plugin-id.ts";
import type { Remark } from "./remark.ts";
import { isNamed, type PluginSettings } from "./settings.ts";

/** A candidate whose manifest was read. */
export interface Found extends Candidate {
  readonly id: string;
  readonly manifest: PluginManifest;
  /** Why the manifest cannot be used. */
  readonly issue?: ManifestIssue;
  /** The manifest's file, and where in it a value stands. */
  readonly manifestFile?: string;
  readonly lineOf?: (path: ValuePath) => number;
}

/** Reads a candidate's manifest and says what is wrong with it. */
export function readCandidate(candidate: Candidate, settings: PluginSettings, tell: (remark: Remark) => void): Found {
  const read = readManifest(candidate.rootDir);
  const say = (level: Remark["level"], pluginId: string, { code, message, file, line }: ManifestIssue): void => {
    tell({ level, code, message, pluginId, source: file, ...(line === undefined ? {} : { line }) });
  };
  if ("issue" in read) {
    const id = isPluginId(candidate.hint) ? candidate.hint : "unnamed";
    say(isUninvited(candidate, id, settings) ? "warn" : "error", id, read.issue);
    return { ...candidate, id, manifest: emptyManifest(id), issue: read.issue };
  }
  const { manifest, file, remarks, lineOf } = read;
  const id = candidate.part === undefined ? manifest.id : `${manifest.id}/${candidate.part}`;
  for (const remark of remarks) say("warn", id, remark);
  // `openclaw-plugin-<id>` is how a package on a registry is called.
  if (!["index", manifest.id, `openclaw-plugin-${manifest.id}`].includes(candidate.hint)) {
    const message = `plugin id mismatch: the manifest says "${manifest.id}", its package, folder or file is named ${JSON.stringify(candidate.hint)}; "${manifest.id}" is used`;
    say("warn", id, { code: "manifest-field", message, file, line: lineOf(["id"]) });
  }
  return { ...candidate, id, manifest, manifestFile: file, lineOf };
}

/** Code that came with a workspace and that nobody named. */
export function isUninvited({ origin }: Candidate, id: string, settings: PluginSettings): boolean {
  return origin === "workspace" && !isNamed(settings, id);
}

/**
 * By id the plugin with the strongest origin. What cannot be loaded anyway does not stand in the way of another: a broken manifest, and a
 * workspace plugin that nobody named.
 */
export function choose(found: readonly Found[], settings: PluginSettings): ReadonlyMap<string, Found> {
  const winners = new Map<string, Found>();
  const weakness = (plugin: Found): number =>
    ORIGINS.indexOf(plugin.origin) + (plugin.issue !== undefined || isUninvited(plugin, plugin.id, settings) ? ORIGINS.length : 0);
  for (const plugin of found) {
    const other = winners.get(plugin.id);
    if (!other || weakness(plugin) < weakness(other)) winners.set(plugin.id, plugin);
  }
  return winners;
}

/** What a user should know about one id in two places: which code runs. */
export function* duplicates(found: readonly Found[], winners: ReadonlyMap<string, Found>): Generator<Remark> {
  for (const plugin of found) {
    const winner = winners.get(plugin.id) ?? plugin;
    // A copy in a stronger place is there on purpose; two in one place, or a workspace's code instead of another, may not be.
    if (winner === plugin || plugin.issue || winner.issue || (winner.origin !== plugin.origin && winner.origin !== "workspace")) continue;
    const message = `duplicate plugin id "${plugin.id}": ${winner.source} (${winner.origin}) is used, ${plugin.source} (${plugin.origin}) is not`;
    yield { level: "warn", code: "duplicate-id", message, pluginId: plugin.id, source: plugin.source };
  }
}
