import { readdirSync, statSync, type Dirent, type Stats } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { expandHome, type ValuePath } from "../../config/index.ts";
import { ORIGINS, type PluginOrigin } from "../record.ts";
import type { Candidate, PackageInfo } from "./candidate.ts";
import { hasManifest } from "./manifest.ts";
import { indexFile, isLooseEntry, looseHint, packageEntries, packageHint, readPackage, stemOf } from "./package-entries.ts";
import type { Remark } from "./remark.ts";
import { inspect } from "./safety.ts";

export interface Places {
  readonly bundledDir?: string | undefined;
  readonly workspaceDir?: string | undefined;
  readonly stateDir: string;
  /** `plugins.load.paths`. */
  readonly paths: readonly string[];
  readonly home: string;
  readonly cwd: string;
  readonly uid: number | undefined;
}

/** What was found, in the order in which plugins are loaded, and what was in the way. */
export interface Discovered {
  readonly candidates: readonly Candidate[];
  readonly remarks: readonly Remark[];
}

/** Folders that tools and people leave behind. */
const LEFT_OVERS = /^\.|^node_modules$|\.(?:bak|disabled)$|\.backup-/;

/** Looks for plugins in all four places. Reads names and package.json files; imports nothing. */
export function discover(places: Places): Discovered {
  const search = createSearch(places.uid);
  if (places.bundledDir !== undefined) search.folder(places.bundledDir, "bundled");
  if (places.workspaceDir !== undefined) search.folder(join(places.workspaceDir, ".openclaw", "extensions"), "workspace");
  search.folder(join(places.stateDir, "extensions"), "global");
  places.paths.forEach((path, index) => {
    const plain = expandHome(path, places.home);
    const at = ["plugins", "load", "paths", index];
    search.named(resolve(places.cwd, plain), at);
    if (!isAbsolute(plain)) search.remark(at, `${path} depends on the folder that the gateway is started in; use the full path`);
  });
  return { candidates: withoutTwins(search.candidates), remarks: search.remarks };
}

/** A folder that is found twice counts once, with the origin that is stronger. */
function withoutTwins(candidates: readonly Candidate[]): Candidate[] {
  const best = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const other = best.get(candidate.source);
    if (!other || ORIGINS.indexOf(candidate.origin) < ORIGINS.indexOf(other.origin)) best.set(candidate.source, candidate);
  }
  return candidates.filter((candidate) => best.get(candidate.source) === candidate);
}

interface Search {
  readonly candidates: Candidate[];
  readonly remarks: Remark[];
  /** A folder of plugins. One that is not there has none. */
  folder(folder: string, origin: PluginOrigin): void;
  /** What the configuration names: a file, a plugin or a folder of plugins. */
  named(path: string, at: ValuePath): void;
  remark(at: ValuePath, message: string): void;
}

function createSearch(uid: number | undefined): Search {
  const candidates: Candidate[] = [];
  const remarks: Remark[] = [];

  function blame(origin: PluginOrigin, problem: Omit<Remark, "level">): void {
    // What lies in a workspace came with a folder; nobody may have asked for it.
    remarks.push({ level: origin === "workspace" ? "warn" : "error", ...problem });
  }

  function add(origin: PluginOrigin, root: string, source: string, about: Pick<Candidate, "hint" | "part" | "package">): void {
    const inspected = inspect(root, source, { bundled: origin === "bundled", uid });
    if ("blocked" in inspected) {
      blame(origin, { code: "candidate-blocked", message: `blocked plugin candidate: ${inspected.blocked}`, source, pluginId: about.hint });
    } else candidates.push({ origin, ...inspected, ...about });
  }

  /** Takes the plugins of a folder that is one; false when it is none. */
  function plugin(folder: string, origin: PluginOrigin): boolean {
    const { info, problem, lineOf } = readPackage(folder);
    if (problem) blame(origin, { code: "package-invalid", message: problem.message, source: problem.file, ...lineIn(problem), pluginId: basename(folder) });
    const hint = packageHint(folder, info);
    const entries = info ? packageEntries(folder, info) : [];
    for (const entry of entries) {
      if ("file" in entry) add(origin, folder, entry.file, { hint, ...partOf(entry.file, entries.length), ...packageOf(info) });
      else
        blame(origin, { code: "entry-missing", message: entry.problem, source: join(folder, "package.json"), line: lineOf?.(entry.key) ?? 1, pluginId: hint });
    }
    if (entries.length > 0) return true;
    const index = indexFile(folder);
    if (index !== undefined) add(origin, folder, index, { hint, ...packageOf(info) });
    return index !== undefined;
  }

  function scan(folder: string, origin: PluginOrigin): void {
    for (const item of itemsIn(folder)) {
      if (LEFT_OVERS.test(item.name)) continue;
      const path = join(folder, item.name);
      const kind = item.isSymbolicLink() ? look(path) : item;
      if (kind?.isFile() && isLooseEntry(item.name)) add(origin, folder, path, { hint: looseHint(path) });
      else if (kind?.isDirectory() && !plugin(path, origin) && hasManifest(path)) blame(origin, withoutEntry(path));
    }
  }

  return {
    candidates,
    remarks,
    folder: scan,
    named(path, at) {
      const stat = look(path);
      if (stat?.isFile() && isLooseEntry(basename(path))) add("config", dirname(path), path, { hint: looseHint(path) });
      else if (!stat?.isDirectory()) {
        const wrong = stat ? `${path} is not a plugin: expected a folder or a .ts, .js, .mts, .cts, .mjs or .cjs file` : `plugin path not found: ${path}`;
        remarks.push({ level: "error", code: "load-path", message: `${wrong}; correct it or remove it`, at });
      } else if (!plugin(path, "config")) {
        if (hasManifest(path)) blame("config", withoutEntry(path));
        else scan(path, "config");
      }
    },
    remark: (at, message) => void remarks.push({ level: "warn", code: "load-path", message, at }),
  };
}

function withoutEntry(folder: string): Omit<Remark, "level"> {
  const message = `no entry file: expected "openclaw.extensions" in package.json, or index.ts, index.js, index.mjs or index.cjs`;
  return { code: "entry-missing", message, source: folder, pluginId: basename(folder) };
}

const partOf = (file: string, entries: number): { part?: string } => (entries > 1 ? { part: stemOf(file) } : {});
const packageOf = (info: PackageInfo | undefined): { package?: PackageInfo } => (info ? { package: info } : {});
const lineIn = ({ line }: { readonly line?: number }): { line?: number } => (line === undefined ? {} : { line });

function itemsIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(systemCode(error) ?? "")) return []; // Gone meanwhile, or not for this user to see.
    throw error;
  }
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // A loop of links, or a folder that may not be entered: nothing that could be loaded.
  }
}
