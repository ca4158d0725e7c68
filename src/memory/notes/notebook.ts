import { isUtf8 } from "node:buffer";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError, systemCode } from "../../base/errors.ts";
import { ensureFolder } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import { createRootedFiles, type RootedFiles } from "../../base/rooted-files.ts";
import { decodeNote, hashOf, MAX_FILE_BYTES, NOT_UTF8 } from "../thread/note-files.ts";
import { dayOfNote, MAIN_NOTE, notePath, type NotePath } from "./note-path.ts";
import type { FileVersions } from "../versions/file-versions.ts";
import { createTrash } from "./trash.ts";

export interface NoteInfo {
  readonly path: string;
  readonly bytes: number;
  readonly updatedAtMs: number;
  /** `YYYY-MM-DD`, when it is named after a day. */
  readonly day?: string;
}

export interface NoteText {
  readonly path: string;
  readonly text: string;
  /** Of its bytes; empty while there is no such file. */
  readonly hash: string;
}

export interface NotebookDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly stateDir: string;
  readonly workspaceOf: (agentId: string) => string;
  /** Keeps what `MEMORY.md` was and is; without it nothing of it is kept. */
  readonly versions?: Pick<FileVersions, "note">;
  /** The next search looks at the notes of this agent again. */
  readonly changed: (agentId: string) => void;
}

/** The notes of agents as files: `MEMORY.md` and `memory/**.md` in their workspaces. */
export interface Notebook {
  list(agentId: string): Promise<{ readonly notes: readonly NoteInfo[]; readonly truncated: boolean }>;
  get(agentId: string, path: string): Promise<NoteText>;
  /** False for a file that is not UTF-8: it is read as well as it can be, and never written. */
  isEditable(agentId: string, path: string): Promise<boolean>;
  /** In one step. `CONFLICT` when the file is not the one with `hash`; an empty one means that there must be none. `INVALID_INPUT` when it is not UTF-8. */
  set(agentId: string, note: { readonly path: string; readonly text: string; readonly hash?: string | undefined }): Promise<NoteText>;
  /** Changes a note whatever it holds: tried again when it changes in between. `undefined` leaves it as it is. */
  edit(agentId: string, path: string, change: (text: string) => string | undefined): Promise<NoteText>;
  /** Sets a note aside for a day. */
  remove(agentId: string, path: string, hash?: string): Promise<{ readonly path: string; readonly undo: string; readonly undoUntil: number }>;
  restore(undo: string): Promise<NoteText & { readonly agentId: string }>;
  /** Erases removed notes that contain a text, so that they cannot be restored. Returns how many. */
  eraseRemoved(agentId: string, matches: (text: string) => boolean): Promise<number>;
  /** Erases removed notes whose day is over. */
  sweep(): Promise<void>;
}

const MAX_LISTED = 5000;
const MAX_DEPTH = 24;
const EDITS = 5;

async function listFolder(workspace: string, folder: string, depth: number, found: NoteInfo[]): Promise<void> {
  let opened;
  try {
    opened = await opendir(join(workspace, folder));
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return;
    throw error;
  }
  for await (const entry of opened) {
    if (found.length > MAX_LISTED) return;
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory() && depth < MAX_DEPTH && entry.name !== "node_modules" && entry.name !== ".git") await listFolder(workspace, path, depth + 1, found);
    else if (entry.isFile() && /\.md$/i.test(entry.name)) await listFile(workspace, path, found);
  }
}

async function listFile(workspace: string, path: string, found: NoteInfo[]): Promise<void> {
  const facts = await lstat(join(workspace, path)).catch(() => undefined);
  if (!facts?.isFile()) return;
  const day = dayOfNote(path);
  found.push({ path, bytes: facts.size, updatedAtMs: Math.floor(facts.mtimeMs), ...(day === undefined ? {} : { day }) });
}

/** `MEMORY.md` first, then days from the newest on, then the others by name. */
function byImportance(a: NoteInfo, b: NoteInfo): number {
  const rank = ({ path, day }: NoteInfo): number => (path.includes("/") ? (day === undefined ? 2 : 1) : 0);
  return rank(a) - rank(b) || (b.day ?? "").localeCompare(a.day ?? "") || (a.path < b.path ? -1 : 1);
}

async function listNotes(workspace: string): ReturnType<Notebook["list"]> {
  const found: NoteInfo[] = [];
  await listFile(workspace, MAIN_NOTE, found);
  // On a file system that does not tell cases apart both names are the same file.
  if (found.length === 0) await listFile(workspace, "memory.md", found);
  await listFolder(workspace, "memory", 0, found);
  return { notes: found.slice(0, MAX_LISTED).toSorted(byImportance), truncated: found.length > MAX_LISTED };
}

const conflict = (path: string): AppError =>
  new AppError("CONFLICT", `${path} was changed in the meantime; read it again and retry the change`, { details: { path, reason: "CONFLICT" } });

/** Writing a text back would change every character that could not be read. */
const notUtf8 = (path: string): AppError => new AppError("INVALID_INPUT", `${path} is ${NOT_UTF8}`, { details: { path, reason: "NOT_UTF8" } });

interface ReadText extends NoteText {
  readonly editable: boolean;
}

async function readText(files: RootedFiles, note: NotePath): Promise<ReadText> {
  let handle;
  try {
    handle = await files.open(note.file);
  } catch (error) {
    const cause = error instanceof AppError ? error.cause : error;
    if (systemCode(error) === "ENOENT" || systemCode(cause) === "ENOENT") return { path: note.path, text: "", hash: "", editable: true };
    throw error;
  }
  await using file = handle;
  const { size } = await file.stat();
  if (size > MAX_FILE_BYTES) throw new AppError("INVALID_INPUT", `${note.path} has ${size} bytes, the limit is ${MAX_FILE_BYTES}`);
  const bytes = await file.readFile();
  const decoded = decodeNote(bytes);
  return { path: note.path, text: decoded?.content ?? bytes.toString("utf8"), hash: hashOf(bytes), editable: isUtf8(bytes) };
}

export function createNotebook(deps: NotebookDeps): Notebook {
  const { ids, workspaceOf, changed } = deps;
  const trash = createTrash(deps);
  const filesOf = (workspace: string): RootedFiles => createRootedFiles({ root: workspace, unique: () => ids.hex(8) });

  const read = (workspace: string, note: NotePath): Promise<ReadText> => readText(filesOf(workspace), note);

  async function write(agentId: string, workspace: string, note: NotePath, text: string): Promise<NoteText> {
    const bytes = Buffer.from(text.toWellFormed());
    if (bytes.length > MAX_FILE_BYTES) throw new AppError("INVALID_INPUT", `a note has at most ${MAX_FILE_BYTES} bytes; this text has ${bytes.length}`);
    ensureFolder(workspace);
    await filesOf(workspace).write(note.file, bytes);
    changed(agentId);
    return { path: note.path, text, hash: hashOf(bytes) };
  }

  async function set(agentId: string, { path, text, hash }: Parameters<Notebook["set"]>[1]): Promise<NoteText> {
    const workspace = workspaceOf(agentId);
    const note = notePath(workspace, path);
    const now = await read(workspace, note);
    if (hash !== undefined && now.hash !== hash) throw conflict(note.path);
    if (!now.editable) throw notUtf8(note.path);
    const version = { agentId, name: MAIN_NOTE };
    if (note.path === MAIN_NOTE && now.hash !== "") await deps.versions?.note(version, now.text, { by: "outside" });
    const written = await write(agentId, workspace, note, text);
    if (note.path === MAIN_NOTE) await deps.versions?.note(version, written.text, { by: "page" });
    return written;
  }

  return {
    list: (agentId) => listNotes(workspaceOf(agentId)),
    async get(agentId, path) {
      const workspace = workspaceOf(agentId);
      const { editable: _editable, ...note } = await read(workspace, notePath(workspace, path));
      return note;
    },
    async isEditable(agentId, path) {
      const workspace = workspaceOf(agentId);
      return (await read(workspace, notePath(workspace, path))).editable;
    },
    set,
    async edit(agentId, path, change) {
      const workspace = workspaceOf(agentId);
      for (let round = 0; ; round += 1) {
        const { editable: _editable, ...now } = await read(workspace, notePath(workspace, path));
        const text = change(now.text);
        if (text === undefined || text === now.text) return now;
        try {
          return await set(agentId, { path, text, hash: now.hash });
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== "CONFLICT" || round >= EDITS) throw error;
        }
      }
    },
    async remove(agentId, path, hash) {
      const workspace = workspaceOf(agentId);
      const note = notePath(workspace, path);
      const now = await read(workspace, note);
      if (now.hash === "") throw new AppError("NOT_FOUND", `there is no note ${note.path}`);
      if (hash !== undefined && now.hash !== hash) throw conflict(note.path);
      // What is kept to restore it is its text.
      if (!now.editable) throw notUtf8(note.path);
      const kept = await trash.put({ agentId, path: note.path, text: now.text });
      await filesOf(workspace).remove(note.file);
      changed(agentId);
      return { path: note.path, ...kept };
    },
    async restore(undo) {
      const { agentId, path, text } = await trash.get(undo);
      const restored = await set(agentId, { path, text, hash: "" });
      await trash.drop(undo);
      return { agentId, ...restored };
    },
    eraseRemoved: trash.erase,
    sweep: trash.sweep,
  };
}
