import { resolve } from "node:path";
import { expandHome, homeFolder } from "../config/index.ts";
import type { SetupPlace } from "./place.ts";
import { pathsOf, workspaceOf } from "./reset.ts";
import { requireValidFile } from "./steps/begin.ts";
import { seedFolders } from "./steps/workspace.ts";

export interface Prepared {
  readonly config: string;
  readonly workspace: string;
  readonly sessions: string;
  /** The file was made now. */
  readonly madeConfig: boolean;
  /** Another workspace was asked for than the one that is configured, which stays. */
  readonly otherWorkspace: boolean;
}

/** Makes the configuration, the workspace and the folder of conversations where they are missing. What is there is not changed. */
export async function prepareFolders(place: SetupPlace, wanted: string | undefined): Promise<Prepared> {
  requireValidFile(place, {});
  const { exists, path } = place.config.snapshot();
  const asked = wanted === undefined ? undefined : resolve(place.cwd, expandHome(wanted.trim(), homeFolder(pathsOf(place))));
  const known = place.config.current.agents?.defaults?.workspace;
  const folder = known === undefined && asked !== undefined ? asked : workspaceOf(place);
  if (!exists || (known === undefined && asked !== undefined)) {
    const value = { ...(exists ? {} : { gateway: { mode: "local" } }), agents: { defaults: { workspace: folder } } };
    await place.config.edit({ kind: "patch", value }, { by: "cli setup" });
  }
  const { sessions } = await seedFolders(place, folder);
  return { config: path, workspace: folder, sessions, madeConfig: !exists, otherWorkspace: asked !== undefined && asked !== folder };
}
