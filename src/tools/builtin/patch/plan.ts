import { basename, dirname } from "node:path";
import { AppError } from "../../../base/errors.ts";
import type { EntryKind, RootedFiles } from "../../../base/rooted-files.ts";
import { applyChunks } from "./chunks.ts";
import type { Hunk } from "./parse.ts";

export interface PatchSummary {
  readonly added: readonly string[];
  readonly modified: readonly string[];
  readonly deleted: readonly string[];
}

/** What a patch comes to, file by file, before anything is touched. */
export interface PatchPlan {
  readonly writes: readonly { readonly path: string; readonly content: string }[];
  readonly removals: readonly string[];
  readonly summary: PatchSummary;
}

export interface PlanDeps {
  readonly files: RootedFiles;
  readonly resolve: (written: string) => string;
  /** A path as the summary shows it. */
  readonly display: (path: string) => string;
  readonly pause: () => Promise<unknown>;
}

const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_FILE_LINES = 1_000_000;

/** Applies all hunks in memory, one after the other. Whatever does not fit is thrown here; paths and kinds of files are checked too. */
export async function planPatch(hunks: readonly Hunk[], deps: PlanDeps): Promise<PatchPlan> {
  const state = createState(deps.files);
  const summary = { added: new Set<string>(), modified: new Set<string>(), deleted: new Set<string>() };
  for (const hunk of hunks) {
    await deps.pause();
    const path = deps.resolve(hunk.path);
    switch (hunk.kind) {
      case "add":
        await state.put(path, hunk.content);
        summary.added.add(deps.display(path));
        break;
      case "delete":
        await state.drop(path, hunk.path);
        summary.deleted.add(deps.display(path));
        break;
      case "update": {
        const target = hunk.moveTo === undefined ? path : deps.resolve(hunk.moveTo);
        const content = await applyChunks(await state.get(path, hunk.path), hunk.chunks, { path: hunk.path, pause: deps.pause });
        await state.put(target, content);
        if (!(await state.isSame(path, target))) await state.drop(path, hunk.path);
        summary.modified.add(deps.display(target));
      }
    }
  }
  const { added, modified, deleted } = summary;
  return { ...state.steps(), summary: { added: [...added], modified: [...modified], deleted: [...deleted] } };
}

/** The files as they will be. */
function createState(files: RootedFiles) {
  /** By identity, so that two names of one file are one file; undefined is gone. */
  const changed = new Map<string, { readonly path: string; readonly content: string | undefined }>();
  const existing = new Set<string>();
  const links = new Set<string>();
  const keyOf = (path: string): Promise<string> => identityOf(files, path);

  return {
    async get(path: string, written: string): Promise<string> {
      const known = changed.get(await keyOf(path));
      if (!known) return await load(files, path, written);
      if (known.content === undefined) throw new AppError("NOT_FOUND", `Failed to read file to update ${written}: the patch deletes it`);
      return known.content;
    },
    isSame: async (one: string, other: string): Promise<boolean> => (await keyOf(one)) === (await keyOf(other)),
    async put(path: string, content: string): Promise<void> {
      await checkTarget(files, path);
      if (links.has(path)) throw new AppError("INVALID_INPUT", `The patch deletes the link ${path} and writes to it: send two patches`);
      changed.set(await keyOf(path), { path, content });
    },
    async drop(path: string, written: string): Promise<void> {
      // A link is deleted, not what it names.
      const kind = await checkRemoval(files, path, written);
      const key = kind === "link" ? path : await keyOf(path);
      if (kind === "link") links.add(path);
      const known = changed.get(key);
      if (kind !== undefined) existing.add(key);
      if (known ? known.content === undefined : kind === undefined) throw new AppError("NOT_FOUND", `Failed to delete file ${written}: it does not exist`);
      changed.set(key, { path, content: undefined });
    },
    steps(): Pick<PatchPlan, "writes" | "removals"> {
      const writes = [...changed.values()].flatMap(({ path, content }) => (content === undefined ? [] : [{ path, content }]));
      const targets = new Set(writes.map(({ path }) => path));
      for (const { path } of writes) {
        for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
          if (targets.has(folder)) throw new AppError("INVALID_INPUT", `${folder} cannot be a file and the folder of ${path}`);
      }
      return { writes, removals: [...changed].flatMap(([key, { path, content }]) => (content === undefined && existing.has(key) ? [path] : [])) };
    },
  };
}

/** Hard links are files of their own: replacing one leaves the others. */
async function identityOf(files: RootedFiles, path: string): Promise<string> {
  try {
    await using file = await files.open(path);
    const { dev, ino, nlink } = await file.stat();
    return nlink === 1 ? `${dev}:${ino}` : path;
  } catch {
    return path;
  }
}

async function load(files: RootedFiles, path: string, written: string): Promise<string> {
  await using file = await files.open(path);
  if ((await file.stat()).size > MAX_FILE_BYTES)
    throw new AppError("INVALID_INPUT", `${written} is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB: change it with exec`);
  const bytes = await file.readFile();
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new AppError("INVALID_INPUT", `${written} is not UTF-8 text, and a patch would damage it: change it with exec`, { cause: error });
  }
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  if (lines > MAX_FILE_LINES) throw new AppError("INVALID_INPUT", `${written} has more than ${MAX_FILE_LINES} lines: change it with exec`);
  return text;
}

/** Undefined when it, or its folder, is not there. */
async function kindAt(files: RootedFiles, path: string): Promise<EntryKind | undefined> {
  try {
    await using folder = await files.folder(dirname(path));
    return await folder.kindOf(basename(path));
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

async function checkRemoval(files: RootedFiles, path: string, written: string): Promise<EntryKind | undefined> {
  const kind = await kindAt(files, path);
  if (kind === "folder" || kind === "other")
    throw new AppError("INVALID_INPUT", `Failed to delete file ${written}: it is ${kind === "folder" ? "a folder" : "no regular file"}`);
  return kind;
}

/** A file can be written there, as far as can be known before. */
async function checkTarget(files: RootedFiles, path: string): Promise<void> {
  const kind = await kindAt(files, path);
  if (kind === "folder" || kind === "other") throw new AppError("INVALID_INPUT", `${path} is ${kind === "folder" ? "a folder" : "no regular file"}`);
  try {
    if (kind === "link") {
      await using _ = await files.open(path);
    } else if (kind === undefined) await checkFolder(files, dirname(path));
  } catch (error) {
    // A link that leads nowhere is replaced.
    if (!(error instanceof AppError) || error.code !== "NOT_FOUND") throw error;
  }
}

/** The nearest folder that is there may be used. */
async function checkFolder(files: RootedFiles, path: string): Promise<void> {
  try {
    await using _ = await files.folder(path);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "NOT_FOUND" || dirname(path) === path) throw error;
    await checkFolder(files, dirname(path));
  }
}
