import { basename, dirname, join, resolve } from "node:path";
import { AppError, fileError, systemCode } from "../../../base/errors.ts";
import { expandHome, type ConfigEdit, type OpenClawConfig } from "../../../config/index.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import type { AgentPort } from "../../ports.ts";
import type { MethodDeps } from "../deps.ts";
import { shownIssues } from "../config/change.ts";
import type { CallContext } from "../handler.ts";
import { agentList } from "../sessions/keys.ts";
import { alreadyExists, idFromName, notFound, withAgent, withChangedAgent, withoutAgent } from "./roster.ts";
import { printableName } from "../../../base/printable.ts";
import { lstat, mkdir, realpath, rename } from "node:fs/promises";
import { isInside } from "../../../base/files.ts";

interface TrashOptions {
  /** Folder of what was put away. */
  readonly trash: string;
  /** Makes the names of this time different from those of all others. */
  readonly mark: string;
  /** Folders of others: neither they, nor what is in them, nor what they are in is touched. */
  readonly others: readonly string[];
  /** Folders that must stay where they are. What is in them may go. */
  readonly fixed: readonly string[];
}

/** The path without links on the way; as it is when nothing is there. */
const real = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Puts a folder away under a name. Gives where it is now; undefined when there was none, or when others need it. Nothing is erased. */
async function putAway(folder: string, name: string, { trash, mark, others, fixed }: TrashOptions): Promise<string | undefined> {
  if (!(await isThere(folder))) return undefined;
  const [own, theirs, staying] = await Promise.all([real(folder), Promise.all(others.map(real)), Promise.all(fixed.map(real))]);
  if (staying.some((path) => isInside(own, path)) || theirs.some((path) => isInside(own, path) || isInside(path, own))) return undefined;
  const place = join(trash, mark);
  try {
    await mkdir(place, { recursive: true, mode: 0o700 });
    return await moved(folder, join(place, name));
  } catch (error) {
    // On another disk it stays beside where it was.
    if (systemCode(error) !== "EXDEV") throw fileError(folder, "could not put away the folder", error);
    return await moved(folder, join(dirname(folder), `${basename(folder)}.deleted-${mark}`)).catch((failure: unknown) => {
      throw fileError(folder, "could not put away the folder", failure);
    });
  }
}

async function moved(from: string, to: string): Promise<string> {
  await rename(from, to);
  return to;
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

export interface RosterDeps extends Pick<MethodDeps, "config" | "clock" | "ids" | "log"> {
  readonly agent: Required<Pick<AgentPort, "workspace" | "seed">>;
}

const find = (config: OpenClawConfig, id: string): ReturnType<typeof agentList>[number] | undefined =>
  agentList(config).find((agent) => agent.id.trim().toLowerCase() === id);

/** The folder that a person's text means. */
function folderOf(written: string, { config }: RosterDeps): string {
  const { home } = config.paths;
  return resolve(home, expandHome(written.trim(), home));
}

/** Writes the file and takes it in use. What it must not say becomes the caller's mistake, in the words of the check. */
async function write(
  change: Extract<ConfigEdit, { kind: "change" }>["change"],
  method: string,
  { config }: RosterDeps,
  { caller }: CallContext,
): Promise<void> {
  try {
    await config.edit({ kind: "change", change }, { by: `${method} (${caller.client.id})` });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "CONFIG_INVALID") throw error;
    throw new AppError("INVALID_INPUT", error.message, { cause: error, details: { issues: shownIssues(error.details) } });
  }
}

/** Adds an agent, and makes its workspace first: an agent never stands in the configuration without one. */
export async function createAgent(params: MethodParams<"agents.create">, deps: RosterDeps, context: CallContext): Promise<MethodResult<"agents.create">> {
  const name = printableName(params.name);
  const agentId = idFromName(name);
  if (find(deps.config.current, agentId)) throw alreadyExists(agentId);
  const workspace = folderOf(params.workspace, deps);
  await deps.agent.seed(workspace);
  const { emoji, avatar } = params;
  await write((written) => withAgent(written, agentId, { name, workspace, emoji, avatar }), "agents.create", deps, context);
  return { ok: true, agentId, name, workspace };
}

/** Changes what is given of an agent. */
export async function updateAgent(params: MethodParams<"agents.update">, deps: RosterDeps, context: CallContext): Promise<MethodResult<"agents.update">> {
  const agentId = params.agentId.trim().toLowerCase();
  if (!find(deps.config.current, agentId)) throw notFound(agentId);
  const workspace = params.workspace === undefined ? undefined : folderOf(params.workspace, deps);
  if (workspace !== undefined) await deps.agent.seed(workspace);
  const fields = { name: params.name === undefined ? undefined : printableName(params.name), workspace, model: params.model?.trim(), avatar: params.avatar };
  await write((written) => withChangedAgent(written, agentId, fields), "agents.update", deps, context);
  return { ok: true, agentId };
}

type Folders = Readonly<Record<string, string>>;

/** Folders that are an agent's own, by what they are. */
async function foldersOf(agent: ReturnType<typeof agentList>[number], deps: RosterDeps): Promise<Folders> {
  const id = agent.id.trim().toLowerCase();
  return {
    workspace: await deps.agent.workspace(id),
    ...(agent.agentDir?.trim() ? { agentDir: folderOf(agent.agentDir, deps) } : {}),
    ...(/^[a-z0-9][a-z0-9_-]*$/.test(id) ? { agent: join(deps.config.paths.state, "agents", id) } : {}),
  };
}

async function putFoldersAway(id: string, folders: Folders, deps: RosterDeps): Promise<void> {
  const { config, clock, ids, log } = deps;
  const { home, state, file } = config.paths;
  const others = (await Promise.all(agentList(config.current).map((agent) => foldersOf(agent, deps)))).flatMap((one) => Object.values(one));
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  const options: TrashOptions = { trash: join(state, "trash"), mark: `${id}-${day}-${ids.hex(4)}`, others, fixed: [home, state, dirname(file)] };
  for (const [name, folder] of Object.entries(folders)) {
    // The agent is gone by now: a folder that cannot be moved does not bring it back.
    const place = await putAway(folder, name, options).catch((error: unknown) => {
      log.warn("files of a deleted agent stay where they are", { folder, error });
      return undefined;
    });
    if (place !== undefined) log.info("files of a deleted agent were put away", { folder, place });
  }
}

/** Removes an agent and what routes to it, then puts its files away. What was said to it stays in its sessions. */
export async function deleteAgent(params: MethodParams<"agents.delete">, deps: RosterDeps, context: CallContext): Promise<MethodResult<"agents.delete">> {
  const agentId = params.agentId.trim().toLowerCase();
  if (agentId === "main") throw new AppError("INVALID_INPUT", `"main" cannot be deleted`);
  const agent = find(deps.config.current, agentId);
  if (!agent) throw notFound(agentId);
  const folders = await foldersOf(agent, deps);
  let removedBindings = 0;
  const change = (written: unknown): unknown => {
    const without = withoutAgent(written, agentId);
    ({ removedBindings } = without);
    return without.value;
  };
  await write(change, "agents.delete", deps, context);
  if (params.deleteFiles ?? true) await putFoldersAway(agentId, folders, deps);
  return { ok: true, agentId, removedBindings };
}
