import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import { agentWorkspace, defaultAgentId, oauthFolder, type PathContext } from "../../../config/index.ts";
import { openForReading } from "../../gateway-target.ts";
import type { Io } from "../../io.ts";

/** Where everything is that belongs to one state folder. */
export interface Belongings {
  readonly state: string;
  readonly config: string;
  /** The copy of the configuration that the next start would use if the file were gone. */
  readonly lastGood: string;
  readonly credentials: string;
  /** Folders of all agents. */
  readonly workspaces: readonly string[];
}

export async function belongingsOf(io: Io): Promise<Belongings> {
  using opened = await openForReading(io);
  const { paths, current: config } = opened;
  const context: PathContext = { env: io.env, cwd: io.cwd, exists: existsSync, osHome: homedir() };
  const ids = new Set([defaultAgentId(config), ...(config.agents?.list ?? []).map(({ id }) => id)]);
  return {
    state: paths.state,
    config: paths.file,
    lastGood: join(paths.state, "config.last-good.json"),
    credentials: oauthFolder(context),
    workspaces: [...ids].map((id) => agentWorkspace(config, context, id)),
  };
}

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
}

/** Those that are there, each once, without what lies in another of them. */
export function outermost(paths: readonly string[]): readonly string[] {
  const there = [...new Set(paths)].filter((path) => existsSync(path));
  return there.filter((path) => !there.some((other) => other !== path && isInside(path, other)));
}
