import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError, systemCode } from "../../base/errors.ts";
import { ensureFolder } from "../../base/files.ts";
import { isRecord } from "../../base/records.ts";
import { createRootedFiles } from "../../base/rooted-files.ts";
import type { NotebookDeps } from "./notebook.ts";

interface Removed {
  readonly agentId: string;
  readonly path: string;
  readonly text: string;
}

/** Removed notes, in a folder that is not indexed. */
export interface Trash {
  put(note: Removed): Promise<{ readonly undo: string; readonly undoUntil: number }>;
  get(undo: string): Promise<Removed>;
  drop(undo: string): Promise<void>;
  erase(agentId: string, matches: (text: string) => boolean): Promise<number>;
  sweep(): Promise<void>;
}

const KEPT_MS = 24 * 3_600_000;
const UNDO = /^[a-z0-9]{1,16}-[a-f0-9]{16}$/;

export function createTrash({ clock, ids, stateDir }: Pick<NotebookDeps, "clock" | "ids" | "stateDir">): Trash {
  const folder = join(stateDir, "memory", "removed");
  const fileOf = (undo: string): string => join(folder, `${undo}.json`);
  /** The id begins with the time at which it was removed. */
  const isOver = (undo: string): boolean => Number.parseInt(undo, 36) + KEPT_MS <= clock.now();

  async function kept(): Promise<readonly string[]> {
    try {
      return (await readdir(folder)).flatMap((name) => (name.endsWith(".json") && UNDO.test(name.slice(0, -5)) ? [name.slice(0, -5)] : []));
    } catch (error) {
      if (systemCode(error) === "ENOENT") return [];
      throw error;
    }
  }

  async function read(undo: string): Promise<Removed | undefined> {
    if (!UNDO.test(undo) || isOver(undo)) return undefined;
    try {
      const value: unknown = JSON.parse(await readFile(fileOf(undo), "utf8"));
      if (!isRecord(value)) return undefined;
      const { agentId, path, text } = value;
      return typeof agentId === "string" && typeof path === "string" && typeof text === "string" ? { agentId, path, text } : undefined;
    } catch (error) {
      if (systemCode(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  const drop = (undo: string): Promise<void> => rm(fileOf(undo), { force: true });

  async function sweep(): Promise<void> {
    for (const undo of await kept()) if (isOver(undo)) await drop(undo);
  }

  return {
    async put(note) {
      await sweep();
      ensureFolder(folder);
      const now = clock.now();
      const undo = `${now.toString(36)}-${ids.hex(8)}`;
      await createRootedFiles({ root: folder, unique: () => ids.hex(8) }).write(fileOf(undo), JSON.stringify(note));
      clock.after(KEPT_MS, () => void sweep().catch(() => undefined));
      return { undo, undoUntil: now + KEPT_MS };
    },
    async get(undo) {
      const found = await read(undo);
      if (!found) throw new AppError("NOT_FOUND", "this note can no longer be restored: a removed note is erased after a day");
      return found;
    },
    drop,
    async erase(agentId, matches) {
      let erased = 0;
      for (const undo of await kept()) {
        const note = await read(undo);
        if (note?.agentId !== agentId || !matches(note.text)) continue;
        await drop(undo);
        erased += 1;
      }
      return erased;
    },
    sweep,
  };
}
