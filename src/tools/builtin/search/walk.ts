import { dirname, join, relative, sep } from "node:path";
import { isInside } from "../../../base/files.ts";
import type { EntryKind, RootedFiles, RootedFolder } from "../../../base/rooted-files.ts";
import type { Effort } from "./effort.ts";
import type { FileHandle } from "node:fs/promises";
import { nameGlob, pathGlob, type Glob } from "./glob.ts";

/** What a `.gitignore` says about what lies in and below its folder. */
interface IgnoreRules {
  /** Undefined when it says nothing about this path, which is written from the folder of the file. */
  verdict(path: string, isFolder: boolean): boolean | undefined;
}

const MAX_FILE_BYTES = 64 * 1024;
const MAX_RULES = 1000;
const MAX_RULE_CHARS = 255;

interface Rule {
  readonly matches: Glob;
  readonly ignored: boolean;
  readonly foldersOnly: boolean;
}

/** Reads the beginning of a `.gitignore`; what is longer than any real one is left out. */
async function loadIgnoreRules(file: FileHandle): Promise<IgnoreRules> {
  const buffer = Buffer.alloc(MAX_FILE_BYTES);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  return parseIgnoreRules(buffer.toString("utf8", 0, bytesRead));
}

function parseIgnoreRules(text: string): IgnoreRules {
  const rules = text.split("\n", MAX_RULES).flatMap((line) => parseRule(line.replace(/\r$/, "")));
  return {
    // The last rule that fits decides.
    verdict: (path, isFolder) => rules.findLast(({ matches, foldersOnly }) => (isFolder || !foldersOnly) && matches(path))?.ignored,
  };
}

function parseRule(line: string): readonly Rule[] {
  if (line.length > MAX_RULE_CHARS || line.startsWith("#")) return [];
  const ignored = !line.startsWith("!");
  // Blanks at the end do not count unless the last one is escaped.
  const trimmed = line.slice(ignored ? 0 : 1).replace(/(?<!\\) +$/, "");
  const foldersOnly = trimmed.endsWith("/");
  const pattern = foldersOnly ? trimmed.slice(0, -1) : trimmed;
  if (pattern === "") return [];
  const matches = pattern.includes("/") ? pathGlob(pattern.replace(/^\//, "")) : nameGlob(pattern);
  return [{ matches, ignored, foldersOnly }];
}

/** Something below the folder where a walk began. */
export interface Found {
  /** From there, with `/`. */
  readonly path: string;
  readonly absolute: string;
  readonly kind: EntryKind;
}

export interface WalkOptions {
  readonly files: RootedFiles;
  readonly start: string;
  /** `.gitignore` files from here down to `start` count too. */
  readonly top: string;
  readonly effort: Effort;
}

/** Read and put in order this many at a time: a folder may have a million. */
const ENTRIES_AT_ONCE = 1024;
const MAX_ENTRIES = 1_000_000;
const MAX_DEPTH = 100;
/** The history of a repository is not its content. */
const NEVER = ".git";

interface Layer {
  readonly folder: string;
  readonly rules: IgnoreRules;
}

interface Level {
  readonly path: string;
  readonly absolute: string;
  readonly folder: RootedFolder;
  readonly layers: readonly Layer[];
  entries: readonly { readonly name: string; readonly kind: EntryKind }[];
  next: number;
}

/**
 * Everything below a folder that no `.gitignore` leaves out, by name, folders before what is in them. Links are shown and not followed. Holds a bounded
 * part of each folder on the way down, no more. The start must be a folder; what cannot be opened below it is passed over.
 */
export async function* walk({ files, start, top, effort }: WalkOptions): AsyncGenerator<Found> {
  const levels: Level[] = [await openLevel(files, "", start, await layersAbove(files, top, start))];
  let seen = 0;
  try {
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const entry = level.entries[level.next] ?? (await nextPart(level));
      if (!entry) {
        levels.pop();
        await level.folder[Symbol.asyncDispose]();
        continue;
      }
      level.next += 1;
      if (!(await effort.goOn())) return;
      if ((seen += 1) > MAX_ENTRIES) {
        effort.stop(`Stopped after ${MAX_ENTRIES} entries: choose a smaller folder`);
        return;
      }
      const { name, kind } = entry;
      const absolute = join(level.absolute, name);
      if (name === NEVER || isIgnored(level.layers, absolute, kind === "folder")) continue;
      const path = level.path === "" ? name : `${level.path}/${name}`;
      yield { path, absolute, kind };
      if (kind !== "folder" || levels.length >= MAX_DEPTH) continue;
      const below = await openLevel(files, path, absolute, level.layers).catch(() => undefined);
      if (below) levels.push(below);
    }
  } finally {
    for (const { folder } of levels) await folder[Symbol.asyncDispose]();
  }
}

async function openLevel(files: RootedFiles, path: string, absolute: string, above: readonly Layer[]): Promise<Level> {
  const folder = await files.folder(absolute);
  const layer = await loadLayer(files, absolute);
  return { path, absolute, folder, layers: layer ? [layer, ...above] : above, entries: [], next: 0 };
}

async function nextPart(level: Level): Promise<Level["entries"][number] | undefined> {
  const entries = [...(await level.folder.read(ENTRIES_AT_ONCE))];
  level.entries = entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  level.next = 0;
  return level.entries[0];
}

/** The deepest first. */
async function layersAbove(files: RootedFiles, top: string, start: string): Promise<readonly Layer[]> {
  const layers: Layer[] = [];
  if (!isInside(top, start)) return layers;
  for (let folder = start; folder !== top && layers.length < MAX_DEPTH;) {
    folder = dirname(folder);
    const layer = await loadLayer(files, folder);
    if (layer) layers.push(layer);
  }
  return layers;
}

async function loadLayer(files: RootedFiles, folder: string): Promise<Layer | undefined> {
  try {
    await using file = await files.open(join(folder, ".gitignore"));
    return { folder, rules: await loadIgnoreRules(file) };
  } catch {
    return undefined;
  }
}

function isIgnored(layers: readonly Layer[], absolute: string, isFolder: boolean): boolean {
  for (const { folder, rules } of layers) {
    const verdict = rules.verdict(relative(folder, absolute).replaceAll(sep, "/"), isFolder);
    if (verdict !== undefined) return verdict;
  }
  return false;
}
