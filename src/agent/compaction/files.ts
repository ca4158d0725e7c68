import type { PathItem } from "../../sessions/index.ts";

/** Files that tools worked on, each once, in order of first use. */
export interface TouchedFiles {
  readonly read: readonly string[];
  readonly modified: readonly string[];
}

const MAX_FILES = 200;
const MAX_PATH_CHARS = 400;
const PATCHED = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm;

function pathOf(args: Readonly<Record<string, unknown>>): string[] {
  const path = args["path"] ?? args["file_path"];
  return typeof path === "string" && path.trim() !== "" && path.length <= MAX_PATH_CHARS ? [path.replaceAll(/\s+/g, " ").trim()] : [];
}

function patched(args: Readonly<Record<string, unknown>>): string[] {
  const patch = args["input"] ?? args["patch"];
  return typeof patch === "string" ? [...patch.matchAll(PATCHED)].map(([, path]) => path!.trim()).filter((path) => path.length <= MAX_PATH_CHARS) : [];
}

/** Adds the files of these messages to what was touched before. A file that was changed is not listed as read. */
export function filesOf(items: readonly PathItem[], before: TouchedFiles = { read: [], modified: [] }): TouchedFiles {
  const read = new Set(before.read);
  const modified = new Set(before.modified);
  for (const { message } of items) {
    if (message?.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "toolCall") continue;
      if (part.name === "read") for (const path of pathOf(part.arguments)) read.add(path);
      else if (part.name === "write" || part.name === "edit") for (const path of pathOf(part.arguments)) modified.add(path);
      else if (part.name === "apply_patch") for (const path of patched(part.arguments)) modified.add(path);
    }
  }
  return { read: [...read.difference(modified)].slice(-MAX_FILES), modified: [...modified].slice(-MAX_FILES) };
}
