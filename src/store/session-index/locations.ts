import { readdirSync, statSync, type Stats } from "node:fs";
import { join, resolve } from "node:path";
import type { StatementSync } from "node:sqlite";
import { isPathId } from "../projection/transcript-path.ts";

/** Where the session index of each agent is: the documented location, or `session.store`. */
export interface Locations {
  /** Absolute path; undefined when the agent's id cannot be part of a path. Agents may share a file. */
  pathOf(agentId: string): string | undefined;
  /** Every file that may exist, with an agent it belongs to. */
  all(): ReadonlyMap<string, string>;
}

/** `template` is an absolute path in which `{agentId}` is replaced. */
export function createLocations(stateDir: string, template: string | undefined, sql: (text: string) => StatementSync): Locations {
  const paths = new Map<string, string | undefined>();

  function pathOf(agentId: string): string | undefined {
    if (!paths.has(agentId)) {
      const standard = join(stateDir, "agents", agentId, "sessions", "sessions.json");
      paths.set(agentId, isPathId(agentId) ? (template === undefined ? standard : resolve(template.replaceAll("{agentId}", agentId))) : undefined);
    }
    return paths.get(agentId);
  }

  function agentFolders(): string[] {
    try {
      return readdirSync(join(stateDir, "agents"));
    } catch {
      return [];
    }
  }

  return {
    pathOf,
    all() {
      const counted = sql("SELECT agent_id AS id FROM session_counts WHERE n > 0")
        .all()
        .map(({ id }) => String(id));
      const found = new Map<string, string>();
      for (const agentId of ["main", ...counted, ...agentFolders().sort()]) {
        const path = pathOf(agentId);
        if (path !== undefined && !found.has(path)) found.set(path, agentId);
      }
      return found;
    },
  };
}

/** Undefined when there is no file. */
export function lookAt(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
