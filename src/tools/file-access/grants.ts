import { isRecord } from "../../base/records.ts";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { messageOf, systemCode } from "../../base/errors.ts";
import { ensureFolder, isInside, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";

interface Grant {
  readonly folder: string;
  /** Milliseconds since the epoch. */
  readonly addedAt: number;
}

interface GrantsFile {
  readonly version: 1;
  /** Lists of grants by agent; each entry is checked when it is used. */
  readonly agents: Readonly<Record<string, unknown>>;
}

const isGrant = (value: unknown): value is Grant => isRecord(value) && typeof value["folder"] === "string";

/** Folders outside of the workspace in which an agent may write, because the operator answered "always". */
export interface FolderGrants {
  /** The folder whose grant covers a path. */
  covering(agentId: string, path: string): string | undefined;
  list(agentId: string): readonly string[];
  add(agentId: string, folder: string): void;
}

export interface FolderGrantsDeps {
  /** `file-approvals.json` in the state folder. */
  readonly path: string;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "hex">;
  readonly log: Pick<Logger, "warn">;
  /** In these, and in every folder above them, "always" is about files directly in the folder. */
  readonly homes: readonly string[];
}

/** Folders this close to the root hold far more than one who agrees can have in mind. */
const BROAD_DEPTH = 2;

export function createFolderGrants({ path, clock, ids, log, homes }: FolderGrantsDeps): FolderGrants {
  function load(): GrantsFile {
    try {
      const found: unknown = JSON.parse(readFileSync(path, "utf8"));
      if (isRecord(found) && found["version"] === 1 && isRecord(found["agents"])) return { version: 1, agents: found["agents"] };
      log.warn(`${path} is not a list of folders (version 1): agents are asked again before they write outside of their workspace`);
    } catch (error) {
      if (systemCode(error) !== "ENOENT")
        log.warn(`${path} could not be read: ${messageOf(error)}; agents are asked again before they write outside of their workspace`);
    }
    return { version: 1, agents: {} };
  }
  const isBroad = (folder: string): boolean => folder.split("/").length <= BROAD_DEPTH || homes.some((home) => isInside(folder, home));
  const grantsOf = (agentId: string): readonly Grant[] => {
    const found = load().agents[agentId.toLowerCase()];
    return Array.isArray(found) ? found.filter(isGrant) : [];
  };

  return {
    covering: (agentId, file) => grantsOf(agentId).find(({ folder }) => (isBroad(folder) ? dirname(file) === folder : isInside(folder, file)))?.folder,
    list: (agentId) => grantsOf(agentId).map(({ folder }) => folder),
    add(agentId, folder) {
      const before = load();
      const own = grantsOf(agentId);
      if (own.some((grant) => grant.folder === folder)) return;
      const agents = { ...before.agents, [agentId.toLowerCase()]: [...own, { folder, addedAt: clock.now() }] };
      ensureFolder(dirname(path));
      writeAtomic(path, `${JSON.stringify({ version: 1, agents }, null, 2)}\n`, { temporary: `${path}.${ids.hex(6)}.tmp` });
    },
  };
}
