import { lazy } from "../../base/lazy.ts";
import type { BackupsDeps } from "./backups/open-backups.ts";
import type { HandlersOf } from "./handler.ts";

export type { BackupsDeps };

/** Backups of the state folder. Their code is loaded with the first request. */
export function backupsHandlers(deps: BackupsDeps): HandlersOf<"backup"> {
  const open = lazy(async () => (await import("./backups/open-backups.ts")).openBackups(deps));
  return {
    "backup.list": async () => (await open()).list(),
    "backup.create": async (params) => (await open()).create(params),
    "backup.verify": async (params) => (await open()).verify(params),
    "backup.restore": async (params) => (await open()).restore(params),
    "backup.read": async (params) => (await open()).read(params),
    "backup.remove": async (params) => (await open()).remove(params),
  };
}
