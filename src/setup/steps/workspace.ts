import { resolve } from "node:path";
import { expandHome, homeFolder } from "../../config/index.ts";
import type { Setup } from "../context.ts";
import { pathsOf, workspaceOf } from "../reset.ts";
import type { SetupHost } from "../host.ts";
import { requireValidFile } from "./begin.ts";

/** Where the default agent's files are. */
export async function chooseWorkspace({ ask, answers, flow, keep, draft, host }: Setup): Promise<string> {
  const known = draft.config.agents?.defaults?.workspace;
  const usual = workspaceOf(host, draft.config);
  const wanted =
    answers.workspace ??
    (ask && flow === "advanced" && !(keep && known !== undefined) ? await ask.text({ message: "Agent workspace folder", initialValue: usual }) : usual);
  const folder = resolve(host.cwd, expandHome(wanted.trim() || usual, homeFolder(pathsOf(host))));
  if (known === undefined || folder !== usual) draft.merge({ agents: { defaults: { workspace: folder } } });
  return folder;
}

/** Makes the workspace with its first files, and the folder of conversations. Nothing that is there is touched. */
export async function seedFolders(host: SetupHost, workspace: string): Promise<{ readonly sessions: string }> {
  const [{ seedWorkspace, initRepository }, { ensureFolder }] = await Promise.all([import("../../agent/index.ts"), import("../../base/files.ts")]);
  const { clock, ids, env, config } = host;
  ensureFolder(config.paths.state);
  await seedWorkspace({
    folder: workspace,
    skipBootstrap: config.current.agents?.defaults?.skipBootstrap === true,
    now: clock.now,
    unique: () => ids.hex(6),
    initRepository: async (folder) => void (await initRepository(folder, env)),
  });
  const sessions = resolve(config.paths.state, "agents", "main", "sessions");
  ensureFolder(sessions);
  return { sessions };
}

interface Prepared {
  readonly config: string;
  readonly workspace: string;
  readonly sessions: string;
  /** The file was made now. */
  readonly madeConfig: boolean;
  /** Another workspace was asked for than the one that is configured, which stays. */
  readonly otherWorkspace: boolean;
}

/** Makes the configuration, the workspace and the folder of conversations where they are missing. What is there is not changed. */
export async function prepareFolders(host: SetupHost, wanted: string | undefined): Promise<Prepared> {
  requireValidFile(host, {});
  const { exists, path } = host.config.snapshot();
  const asked = wanted === undefined ? undefined : resolve(host.cwd, expandHome(wanted.trim(), homeFolder(pathsOf(host))));
  const known = host.config.current.agents?.defaults?.workspace;
  const folder = known === undefined && asked !== undefined ? asked : workspaceOf(host);
  if (!exists || (known === undefined && asked !== undefined)) {
    const value = { ...(exists ? {} : { gateway: { mode: "local" } }), agents: { defaults: { workspace: folder } } };
    await host.config.edit({ kind: "patch", value }, { by: "cli setup" });
  }
  const { sessions } = await seedFolders(host, folder);
  return { config: path, workspace: folder, sessions, madeConfig: !exists, otherWorkspace: asked !== undefined && asked !== folder };
}
