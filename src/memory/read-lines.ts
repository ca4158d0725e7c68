import { lstatSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { AppError } from "../base/errors.ts";
import { citedPath, readNote, type NoteRoots } from "./thread/note-files.ts";

export interface ReadLines {
  readonly path: string;
  /** Counted from 1. */
  readonly from?: number | undefined;
  readonly lines?: number | undefined;
}

const isBelow = (folder: string, file: string): boolean => {
  const way = relative(folder, file);
  return way !== "" && !way.startsWith("..") && !isAbsolute(way);
};

/** No part of the way to a file may be a link: what is read is what was indexed. */
export function hasLink(root: string, file: string): boolean {
  let at = root;
  for (const part of relative(root, file).split(sep)) {
    at = resolve(at, part);
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) return true;
  }
  return false;
}

/** The folder or file of the memory that a path belongs to. */
function rootOf({ workspace, extraPaths }: NoteRoots, file: string): string | undefined {
  const own = citedPath(workspace, file);
  if (own === "MEMORY.md" || own === "memory.md" || (own.startsWith("memory/") && isBelow(workspace, file))) return workspace;
  for (const extra of extraPaths) {
    if (extra === file) return resolve(file, "..");
    if (isBelow(extra, file)) return extra;
  }
  return undefined;
}

/** Lines of a note. Throws `INVALID_INPUT` for everything that is no note of this agent. */
export async function readLines(roots: NoteRoots, { path, from = 1, lines }: ReadLines): Promise<{ readonly path: string; readonly text: string }> {
  const written = path.trim();
  if (written === "" || written.includes("\0")) throw new AppError("INVALID_INPUT", "path required");
  const file = resolve(roots.workspace, written);
  const root = /\.md$/i.test(file) ? rootOf(roots, file) : undefined;
  if (root === undefined || hasLink(root, file)) {
    throw new AppError(
      "INVALID_INPUT",
      `path required: ${JSON.stringify(written.slice(0, 200))} is not a note; expected MEMORY.md, memory/….md or a Markdown file of memorySearch.extraPaths`,
    );
  }
  const note = readNote(file);
  if (note.kind === "gone") return { path: citedPath(roots.workspace, file), text: "" };
  if (note.kind !== "read") throw new AppError("IO_ERROR", `${written} cannot be read: ${note.kind === "skip" ? note.why : "it is being written; try again"}`);
  const start = Math.max(1, Math.floor(from)) - 1;
  const all = note.content.split("\n");
  const chosen = lines === undefined && from === 1 ? all : all.slice(start, lines === undefined ? undefined : start + Math.max(1, Math.floor(lines)));
  return { path: citedPath(roots.workspace, file), text: chosen.join("\n") };
}
