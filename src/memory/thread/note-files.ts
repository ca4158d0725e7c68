import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { closeSync, fstatSync, lstatSync, openSync, opendirSync, readFileSync, statSync, type Stats } from "node:fs";
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

const tooLarge = (bytes: number): string => `too large: ${Math.ceil(bytes / 1024 / 1024)} MB; the limit is ${MAX_FILE_BYTES / 1024 / 1024} MB`;

/** Why a file or folder cannot be read, in words. */
function unreadable(error: unknown): string {
  const code = systemCode(error);
  return code === "EACCES" || code === "EPERM" ? "not readable: permission denied" : `not readable: ${messageOf(error)}`;
}

/** Why something that is neither a file nor a folder is no note; undefined for those. */
function kindOf(facts: Pick<Stats, "isSymbolicLink" | "isFIFO" | "isSocket" | "isFile" | "isDirectory">): string | undefined {
  if (facts.isFile() || facts.isDirectory()) return undefined;
  if (facts.isSymbolicLink()) return "a symbolic link, which is not followed; copy the file here or add its target to memorySearch.extraPaths";
  return facts.isFIFO() ? "a pipe" : facts.isSocket() ? "a socket" : "a device";
}

function stat(file: string): Stats | undefined {
  try {
    return lstatSync(file);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

const leadsToFolder = (file: string): boolean => {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false;
  }
};

/** Every note below the roots, with what could not be looked at. Symbolic links are not followed. Yields `undefined` between folders, to let others in. */
export function* findNotes({ workspace, extraPaths }: NoteRoots, issues: NoteIssue[]): Generator<NoteFile | undefined> {
  const seen = new Set<string>();

  /** Names what a person would take for a note or a folder of notes. Pictures and the like are nobody's notes. */
  function leftOut(file: string, facts: Parameters<typeof kindOf>[0]): void {
    const why = kindOf(facts);
    if (why === undefined) return;
    const isFolder = facts.isSymbolicLink() && !isNote(file) && leadsToFolder(file);
    if (isNote(file) || isFolder) issues.push({ path: citedPath(workspace, file), why });
  }

  function look(file: string): Stats | undefined {
    try {
      return stat(file);
    } catch (error) {
      issues.push({ path: citedPath(workspace, file), why: unreadable(error) });
      return undefined;
    }
  }

  function* one(file: string): Generator<NoteFile> {
    const path = citedPath(workspace, file);
    if (seen.has(file)) return;
    seen.add(file);
    const facts = look(file);
    if (!facts?.isFile()) return;
    if (facts.size > MAX_FILE_BYTES) issues.push({ path, why: tooLarge(facts.size) });
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
          else leftOut(join(name, entry.name), entry);
        }
      } finally {
        opened.closeSync();
      }
    } catch (error) {
      if (systemCode(error) !== "ENOENT") issues.push({ path: citedPath(workspace, name), why: unreadable(error) });
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
    const facts = look(file);
    if (facts?.isFile() && !(name === "memory.md" && seen.has(join(workspace, "MEMORY.md")))) yield* one(file);
    else if (facts) leftOut(file, facts);
  }
  const notes = join(workspace, "memory");
  const facts = look(notes);
  if (facts?.isDirectory()) yield* folder(notes, 0);
  else if (facts) issues.push({ path: "memory", why: kindOf(facts) ?? "a file; notes are in a folder of this name" });
  for (const written of extraPaths) {
    const file = resolve(workspace, written);
    const before = issues.length;
    const facts = look(file);
    if (issues.length > before) continue;
    if (facts?.isDirectory()) yield* folder(file, 0);
    else if (facts?.isFile() && isNote(file)) yield* one(file);
    else issues.push({ path: written, why: whyNoRoot(facts) });
  }
}

function whyNoRoot(facts: Stats | undefined): string {
  if (!facts) return "not found";
  if (facts.isSymbolicLink()) return "a symbolic link, which is not followed; add its target to memorySearch.extraPaths instead";
  return kindOf(facts) ?? "neither a Markdown file (.md) nor a folder";
}

export type ReadNote =
  | { readonly kind: "read"; readonly content: string; readonly hash: string; readonly mtime: number; readonly size: number; readonly utf8: boolean }
  | { readonly kind: "skip"; readonly why: string }
  | { readonly kind: "gone" }
  | { readonly kind: "changing" };

export const hashOf = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

const ANSI = new TextDecoder("windows-1252");
const UTF_16 = [
  { mark: [0xff, 0xfe], decoder: new TextDecoder("utf-16le") },
  { mark: [0xfe, 0xff], decoder: new TextDecoder("utf-16be") },
];

/**
 * The text of a file. What is not UTF-8 is read as well as it can be: UTF-16 with its mark, a file that is UTF-8 but for some broken bytes, and otherwise
 * windows-1252, which older editors write. Undefined when it is no text. `utf8` is false for all of them: they are never written.
 */
export function decodeNote(bytes: Buffer): { readonly content: string; readonly utf8: boolean } | undefined {
  const wide = UTF_16.find(({ mark }) => bytes.length > 1 && mark.every((byte, index) => bytes[index] === byte));
  if (wide) return { content: wide.decoder.decode(bytes), utf8: false };
  if (bytes.subarray(0, BINARY_LOOK).includes(0)) return undefined;
  const text = bytes.toString("utf8");
  if (isUtf8(bytes)) return { content: text, utf8: true };
  const broken = text.match(/\uFFFD/g)?.length ?? 0;
  const whole = text.match(/[^\0-\x7F\uFFFD]/gu)?.length ?? 0;
  return { content: broken > whole ? ANSI.decode(bytes) : text, utf8: false };
}

/** Reads a note whole. `changing`: it was written meanwhile, try again later. */
export function readNote(file: string): ReadNote {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "gone" };
    return { kind: "skip", why: code === "ELOOP" ? "a symbolic link" : unreadable(error) };
  }
  try {
    const before = fstatSync(fd);
    if (!before.isFile() || before.size > MAX_FILE_BYTES) return { kind: "skip", why: before.isFile() ? tooLarge(before.size) : "not a file" };
    const bytes = readFileSync(fd);
    const after = fstatSync(fd);
    if (after.mtimeMs !== before.mtimeMs || after.size !== before.size || bytes.length !== before.size) return { kind: "changing" };
    const decoded = decodeNote(bytes);
    if (!decoded) return { kind: "skip", why: "binary, not text" };
    const content = decoded.content.replace(/^\uFEFF/, "");
    return { kind: "read", content, hash: hashOf(bytes), mtime: after.mtimeMs, size: after.size, utf8: decoded.utf8 };
  } catch (error) {
    return { kind: "skip", why: unreadable(error) };
  } finally {
    closeSync(fd);
  }
}
