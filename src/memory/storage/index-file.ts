import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../../base/errors.ts";
import type { Analyser } from "../text/analyser.ts";
import { createIndex, openIndex, removeIndex, type IndexDatabase, type IndexStamp } from "./database.ts";
import { createPassages, type Passages } from "./passages.ts";

/** One index while it is open. */
export interface OpenIndex {
  readonly index: IndexDatabase;
  readonly passages: Passages;
  /** Called with each passage that is removed from this index. */
  readonly removed: Set<(id: number) => void>;
}

/** The file of an agent's index, and a new one that is made beside it. */
export interface IndexFile extends Disposable {
  readonly current: OpenIndex;
  /** The current one is incomplete: it is made beside one that cannot be used. */
  readonly isNew: boolean;
  /** An empty index beside the current one. */
  begin(): OpenIndex;
  /** Puts a complete new index in the place of the old one. */
  finish(made: OpenIndex): void;
  /** Closes the index and deletes it. */
  discard(): void;
}

export interface IndexFileOptions {
  readonly file: string;
  readonly stamp: IndexStamp;
  readonly analyser: Analyser;
  /** The index has to be made again, and why. */
  readonly onRemake: (why: string) => void;
}

/** Another process may make a new index of the same agent at the same time. */
const temporary = (file: string): string => `${file}.new-${process.pid}`;

/** Removes what processes left that were killed while they made one. */
function removeLeft(file: string): void {
  const prefix = `${basename(file)}.new`;
  for (const name of existsSync(dirname(file)) ? readdirSync(dirname(file)) : []) {
    if (!name.startsWith(prefix)) continue;
    const owner = Number(/^-(\d+)/.exec(name.slice(prefix.length))?.[1] ?? 0);
    if (owner === process.pid || !isAlive(owner)) rmSync(join(dirname(file), name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

export function openIndexFile({ file, stamp, analyser, onRemake }: IndexFileOptions): IndexFile {
  removeLeft(file);
  let isNew = false;
  let current = wrap(open());

  function wrap(index: IndexDatabase): OpenIndex {
    const removed = new Set<(id: number) => void>();
    return { index, removed, passages: createPassages(index, analyser, (id) => removed.forEach((notify) => notify(id))) };
  }

  function open(): IndexDatabase {
    const opened = openIndex(file, stamp);
    if (opened.kind === "current") return opened.index;
    if (opened.kind !== "missing") onRemake(opened.kind === "damaged" ? `it was damaged (${opened.why})` : opened.why);
    if (opened.kind !== "outdated") return createIndex(file, stamp);
    isNew = true;
    return createIndex(temporary(file), stamp, true);
  }

  return {
    get current() {
      return current;
    },
    get isNew() {
      return isNew;
    },
    begin: () => wrap(createIndex(temporary(file), stamp, true)),
    finish(made) {
      carryEmbeddings(made.index, file);
      made.index[Symbol.dispose]();
      const fd = openSync(temporary(file), "r+");
      fsyncSync(fd);
      closeSync(fd);
      if (current !== made) current.index[Symbol.dispose]();
      for (const ending of ["-wal", "-shm"]) removeIndex(`${file}${ending}`);
      renameSync(temporary(file), file);
      const opened = openIndex(file, stamp);
      current = wrap(opened.kind === "current" ? opened.index : createIndex(file, stamp));
      isNew = false;
    },
    discard() {
      current.index[Symbol.dispose]();
      removeIndex(file);
      removeIndex(temporary(file));
    },
    [Symbol.dispose]: () => current.index[Symbol.dispose](),
  };
}

/** Embeddings that were paid for are kept, also those of the reference system's index. */
function carryEmbeddings(made: IndexDatabase, former: string): void {
  try {
    made.db.prepare("ATTACH ? AS former").run(former);
  } catch {
    return;
  }
  try {
    made.db.exec("INSERT OR IGNORE INTO embedding_cache SELECT provider, model, provider_key, hash, embedding, dims, updated_at FROM former.embedding_cache");
  } catch {
    // It has none.
  } finally {
    made.db.exec("DETACH former");
  }
}
