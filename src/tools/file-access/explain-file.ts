import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { systemRandom } from "../../base/random.ts";
import { agentWorkspace, type Env, type Loaded } from "../../config/index.ts";
import { createFileAccess, type FileAccess } from "./file-access.ts";
import { createFolderGrants } from "./grants.ts";
import { fileRules, ownPlaces } from "./own-places.ts";

export interface ExplainFileInput {
  readonly loaded: Pick<Loaded, "snapshot" | "paths" | "env" | "watched">;
  readonly agentId: string;
  /** Absolute. */
  readonly path: string;
}

/** What an agent may do with a file, as the configuration says it, without a gateway that runs. */
export function explainFile({ loaded, agentId, path }: ExplainFileInput): ReturnType<FileAccess["explainFile"]> {
  const { snapshot, paths } = loaded;
  const { config: current } = snapshot;
  const env: Env = loaded.env;
  const home = homedir();
  const workspaceOf = (id: string): string => agentWorkspace(current, { env, exists: existsSync, osHome: home, cwd: paths.home }, id);
  const config = { current, paths: { ...paths, file: snapshot.path }, sources: () => loaded.watched };
  const grants = {
    path: join(paths.state, "file-approvals.json"),
    clock: systemClock,
    ids: createIds(systemRandom),
    log: silentLogger,
    homes: [home, paths.home],
  };
  const access = createFileAccess({
    own: ownPlaces({ config, env, home, cwd: process.cwd(), uid: process.getuid?.(), workspaceOf }),
    rules: (id) => fileRules(current, id, paths.home),
    shared: [join(paths.state, "media"), join(paths.state, "canvas")],
    skillsDecide: () => false,
    grants: createFolderGrants(grants),
    approvals: { request: () => Promise.reject(new AppError("UNAVAILABLE", "explaining a decision requests no approval")) },
    unasked: () => undefined,
    log: silentLogger,
    ignoreCase: process.platform === "win32" || process.platform === "darwin",
  });
  return access.explainFile({ agentId, workspaceDir: workspaceOf(agentId) }, path);
}
