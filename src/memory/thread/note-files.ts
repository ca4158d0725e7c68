import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { closeSync, fstatSync, lstatSync, openSync, opendirSync, readFileSync, type Stats } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { constants } from "node:fs";
import { messageOf, systemCode } from "../../base/errors.ts";

/** Larger files are not notes that a person reads; the status names them. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 24;
export const MAX_FILES = 200_000;
const BINARY_LOOK = 8192;
/** Why a note is read, but never written. */
export const NOT_UTF8 = "not UTF-8; edit it yourself";

export interface NoteRoots {
  readonly workspace: string;
  /** Files or folders; relative ones below the workspace. */
  readonly extraPaths: readonly string[];
}

export interface NoteFile {
  /** As it is cited: relative to the workspace with `/`, absolute for extra paths outside of it. */
  readonly path: string;
  readonly file: string;
  readonly mtime: number;
  readonly size: number;
}

/** A file or folder that is not indexed, and why. */
export interface NoteIssue {
  readonly path: string;
  readonly why: string;
}

export function citedPath(workspace: string, file: string): string {
  const below = relative(workspace, file);
  return below === "" || below.startsWith("..") || isAbsolute(below) ? file : below.split(sep).join("/");
}

const isNote = (name: string): boolean => /\.md$/i.test(name);

function stat(file: string): Stats | undefined {
  try {
    return lstatSync(file);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Every note below the roots, with what could not be looked at. Symbolic links are not followed. Yields `undefined` between folders, to let others in. */
export function* findNotes({ workspace, extraPaths }: NoteRoots, issues: NoteIssue[]): Generator<NoteFile | undefined> {
  const seen = new Set<string>();

  function* one(file: string): Generator<NoteFile> {
    const path = citedPath(workspace, file);
    if (seen.has(file)) return;
    seen.add(file);
    const facts = stat(file);
    if (!facts?.isFile()) return;
    if (facts.size > MAX_FILE_BYTES) issues.push({ path, why: `${Math.round(facts.size / 1024 / 1024)} MB: larger than ${MAX_FILE_BYTES / 1024 / 1024} MB` });
    else yield { path, file, mtime: facts.mtimeMs, size: facts.size };
  }

  function* folder(name: string, depth: number): Generator<NoteFile | undefined> {
    if (depth > MAX_DEPTH || seen.size >= MAX_FILES) {
      issues.push({ path: citedPath(workspace, name), why: depth > MAX_DEPTH ? `more than ${MAX_DEPTH} folders deep` : `more than ${MAX_FILES} files` });
      return;
    }
    yield undefined;
    const entries: { readonly name: string; readonly kind: "file" | "folder" }[] = [];
    try {
      const opened = opendirSync(name);
      try {
        for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
          if (entry.isDirectory() && entry.name !== "node_modules" && entry.name !== ".git") entries.push({ name: entry.name, kind: "folder" });
          else if (entry.isFile() && isNote(entry.name)) entries.push({ name: entry.name, kind: "file" });
        }
      } finally {
        opened.closeSync();
      }
    } catch (error) {
      if (systemCode(error) !== "ENOENT") issues.push({ path: citedPath(workspace, name), why: messageOf(error) });
      return;
    }
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.kind === "file") yield* one(join(name, entry.name));
      else yield* folder(join(name, entry.name), depth + 1);
    }
  }

  for (const name of ["MEMORY.md", "memory.md"]) {
    const file = join(workspace, name);
    // On a file system that does not tell cases apart both names are the same file.
    if (stat(file)?.isFile() && !(name === "memory.md" && seen.has(join(workspace, "MEMORY.md")))) yield* one(file);
  }
  if (stat(join(workspace, "memory"))?.isDirectory()) yield* folder(join(workspace, "memory"), 0);
  for (const written of extraPaths) {
    const file = resolve(workspace, written);
    const facts = stat(file);
    if (facts?.isDirectory()) yield* folder(file, 0);
    else if (facts?.isFile() && isNote(file)) yield* one(file);
    else
      issues.push({
        path: written,
        why: facts?.isSymbolicLink() ? "a symbolic link: name what it points to" : facts ? "not a Markdown file or a folder" : "not found",
      });
  }
}

export type ReadNote =
  | { readonly kind: "read"; readonly content: string; readonly hash: string; readonly mtime: number; readonly size: number; readonly utf8: boolean }
  | { readonly kind: "skip"; readonly why: string }
  | { readonly kind: "gone" }
  | { readonly kind: "changing" };

export const hashOf = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

/** Reads a note whole. `changing`: it was written meanwhile, try again later. */
export function readNote(file: string): ReadNote {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "gone" };
    return { kind: "skip", why: code === "ELOOP" ? "a symbolic link" : messageOf(error) };
  }
  try {
    const before = fstatSync(fd);
    if (!before.isFile() || before.size > MAX_FILE_BYTES) return { kind: "skip", why: before.isFile() ? "too large" : "not a file" };
    const bytes = readFileSync(fd);
    const after = fstatSync(fd);
    if (after.mtimeMs !== before.mtimeMs || after.size !== before.size || bytes.length !== before.size) return { kind: "changing" };
    if (bytes.subarray(0, BINARY_LOOK).includes(0)) return { kind: "skip", why: "not text" };
    const content = bytes.toString("utf8").replace(/^\uFEFF/, "");
    return { kind: "read", content, hash: hashOf(bytes), mtime: after.mtimeMs, size: after.size, utf8: isUtf8(bytes) };
  } catch (error) {
    return { kind: "skip", why: messageOf(error) };
  } finally {
    closeSync(fd);
  }
}
