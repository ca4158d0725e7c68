import { statSync } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import { isObject } from "../../config/index.ts";
import type { PackageInfo } from "./candidate.ts";
import { readJsonFile } from "./json-file.ts";

export interface PackageProblem {
  readonly message: string;
  readonly file: string;
  readonly line?: number;
}

/** What a folder's package.json says; nothing when there is none. */
export function readPackage(folder: string): { readonly info?: PackageInfo; readonly problem?: PackageProblem; readonly lineOf?: (key: string) => number } {
  const path = join(folder, "package.json");
  const read = readJsonFile(path);
  if ("problem" in read) {
    const { missing, message, line } = read.problem;
    return missing ? {} : { problem: { message: `package.json cannot be read: ${message}`, file: path, ...(line === undefined ? {} : { line }) } };
  }
  const { value, lineOf } = read.file;
  if (!isObject(value)) return { problem: { message: "package.json: expected an object", file: path, line: 1 } };
  const text = (key: string): Record<string, string> => (typeof value[key] === "string" ? { [key]: value[key] } : {});
  const block = isObject(value["openclaw"]) ? value["openclaw"] : {};
  return { info: { ...text("name"), ...text("version"), ...text("description"), block }, lineOf: (key) => lineOf(["openclaw", key]) };
}

/** An entry that a package names. `file` is where it is, which nobody has checked yet. */
export type PackageEntry = { readonly file: string } | { readonly problem: string; readonly key: "extensions" | "runtimeExtensions" };

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string" && entry.trim() !== "");

/** Entry files of a package, in order; none when it is no plugin. */
export function packageEntries(folder: string, info: PackageInfo): readonly PackageEntry[] {
  const { extensions, runtimeExtensions } = info.block;
  if (extensions === undefined) return [];
  if (!isNames(extensions)) return [{ problem: `"openclaw.extensions": expected a list of entry files`, key: "extensions" }];
  const built: readonly unknown[] = Array.isArray(runtimeExtensions) ? runtimeExtensions : [];
  return extensions.map((entry, index) => {
    const runtime = built[index];
    if (typeof runtime === "string") {
      const file = join(folder, runtime);
      if (isFile(file)) return { file };
      return { problem: `"openclaw.runtimeExtensions" names ${JSON.stringify(runtime)}, which is not there; build the plugin`, key: "runtimeExtensions" };
    }
    return existingEntry(folder, entry);
  });
}

function existingEntry(folder: string, entry: string): PackageEntry {
  const file = join(folder, entry);
  if (isFile(file)) return { file };
  const peers = builtPeers(folder, file);
  const found = peers.find(isFile);
  if (found !== undefined) return { file: found };
  const [peer] = peers;
  const also = peer === undefined ? "" : ", nor is a built file such as " + relative(folder, peer);
  return { problem: `"openclaw.extensions" names ${JSON.stringify(entry)}, which is not there${also}`, key: "extensions" };
}

const BUILT: Readonly<Record<string, readonly string[]>> = { ".ts": [".js", ".mjs", ".cjs"], ".mts": [".mjs"], ".cts": [".cjs"] };

/** Where the JavaScript of a TypeScript entry may lie. Published packages often name the source and hold only this. */
function builtPeers(folder: string, file: string): string[] {
  const endings = BUILT[extname(file)];
  if (!endings) return [];
  const inside = relative(folder, file);
  const stem = inside.slice(0, -extname(inside).length);
  const stems = [join("dist", stem), ...(stem.startsWith("src/") ? [join("dist", stem.slice(4))] : []), join("dist", "src", stem), stem];
  return stems.flatMap((peer) => endings.map((ending) => join(folder, peer + ending)));
}

const INDEX_FILES = ["index.ts", "index.js", "index.mjs", "index.cjs"];

/** The entry of a folder that has no package: its index file. */
export function indexFile(folder: string): string | undefined {
  return INDEX_FILES.map((name) => join(folder, name)).find(isFile);
}

/** True for a file that can be a plugin all by itself. */
export function isLooseEntry(name: string): boolean {
  return /\.[mc]?[tj]s$/.test(name) && !/\.d\.[mc]?ts$/.test(name) && !name.startsWith(".");
}

export const stemOf = (file: string): string => basename(file).replace(/\.[mc]?[tj]s$/, "");

/** What a package calls the plugin in it: its name without a scope. */
export function packageHint(folder: string, info: PackageInfo | undefined): string {
  const name = info?.name?.replace(/^@[^/]*\//, "").trim();
  return name ? name : basename(folder);
}

export const looseHint = (file: string): string => stemOf(file) || basename(dirname(file));

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false; // A part of the path is no folder, or may not be entered: there is nothing to import.
  }
}
