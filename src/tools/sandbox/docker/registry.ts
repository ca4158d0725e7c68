import { isRecord } from "../../../base/records.ts";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileError, systemCode } from "../../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../../base/files.ts";
import type { Ids } from "../../../base/ids.ts";

/** A container that was made here. */
export interface ContainerEntry {
  readonly containerName: string;
  /** Who shares it. */
  readonly sessionKey: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  readonly image: string;
  readonly configHash?: string;
  readonly cdpPort?: number;
  readonly noVncPort?: number;
}

export type ContainerKind = "containers" | "browsers";

/** The list of containers, in the form that other versions read. */
export interface ContainerRegistry {
  list(kind?: ContainerKind): readonly ContainerEntry[];
  /** When and from which image it was made stays as it was first written. */
  put(entry: ContainerEntry, kind?: ContainerKind): void;
  remove(containerName: string, kind?: ContainerKind): void;
}

export function createRegistry(stateDir: string, ids: Pick<Ids, "hex">): ContainerRegistry {
  const pathOf = (kind: ContainerKind): string => join(stateDir, "sandbox", `${kind}.json`);

  function list(kind: ContainerKind = "containers"): readonly ContainerEntry[] {
    try {
      const found: unknown = JSON.parse(readFileSync(pathOf(kind), "utf8"));
      return isRecord(found) && Array.isArray(found["entries"]) ? found["entries"].filter(isEntry) : [];
    } catch (error) {
      // What cannot be read is no list: containers are found again by their names.
      if (systemCode(error) === "ENOENT" || error instanceof SyntaxError) return [];
      throw fileError(pathOf(kind), "could not read", error);
    }
  }

  function save(entries: readonly ContainerEntry[], kind: ContainerKind): void {
    const path = pathOf(kind);
    ensureFolder(dirname(path));
    writeAtomic(path, `${JSON.stringify({ entries }, null, 2)}\n`, { temporary: `${path}.${ids.hex(6)}` });
  }

  return {
    list,
    put(entry, kind = "containers") {
      const entries = list(kind);
      const before = entries.find(({ containerName }) => containerName === entry.containerName);
      const kept = before ? { ...entry, createdAtMs: before.createdAtMs, image: before.image } : entry;
      save([...entries.filter(({ containerName }) => containerName !== entry.containerName), kept], kind);
    },
    remove(name, kind = "containers") {
      const entries = list(kind);
      const left = entries.filter(({ containerName }) => containerName !== name);
      if (left.length !== entries.length) save(left, kind);
    },
  };
}

function isEntry(value: unknown): value is ContainerEntry {
  if (!isRecord(value)) return false;
  const { containerName, sessionKey, createdAtMs, lastUsedAtMs } = value;
  return typeof containerName === "string" && typeof sessionKey === "string" && typeof createdAtMs === "number" && typeof lastUsedAtMs === "number";
}
