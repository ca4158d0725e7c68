/** Which agents there are: adding, changing and removing them, in the configuration and on disk. For methods and commands alike. */
import { dirname, join, resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import { printableName } from "../../base/printable.ts";
import {
  agentFolder,
  agentWorkspace,
  defaultAgentId,
  expandHome,
  type Config,
  type ConfigEdit,
  type OpenClawConfig,
  type PathContext,
  type Snapshot,
} from "../../config/index.ts";
import { templateNamed, type AgentTemplate, type TemplateFacts } from "../templates/index.ts";
import { initRepository } from "../workspace/repository.ts";
import { seedWorkspace } from "../seed-workspace.ts";
import type { Seeded, WorkspaceTemplate } from "../workspace/seed.ts";
import { planBindings, positionsOf, type BindingMatch, type BindingPlan, type WrittenBinding } from "./bindings.ts";
import {
  alreadyExists,
  idFromName,
  notFound,
  refused,
  withAgent,
  withBindings,
  withChangedAgent,
  withoutAgent,
  withoutBindings,
  type AgentFields,
} from "./edits.ts";
import { checkWorkspace, putAway, type PutAway } from "./folders.ts";

type Agent = NonNullable<NonNullable<OpenClawConfig["agents"]>["list"]>[number];

export interface RosterDeps {
  readonly config: Pick<Config, "current" | "edit" | "env" | "paths">;
  /** What folders are computed from. Relative ones that a user writes are below its `cwd`. */
  readonly context: PathContext;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** One more agent. */
export interface NewAgent {
  readonly name: string;
  /** The usual one when absent. */
  readonly workspace?: string | undefined;
  readonly agentDir?: string | undefined;
  /** As `provider/model`. */
  readonly model?: string | undefined;
  readonly emoji?: string | undefined;
  readonly avatar?: string | undefined;
  readonly template?: string | undefined;
  readonly bindings?: readonly BindingMatch[] | undefined;
}

export interface AddedAgent {
  readonly agentId: string;
  readonly name: string;
  readonly workspace: string;
  readonly agentDir: string;
  /** Files of the workspace that were made now. */
  readonly made: Seeded["made"];
  readonly bindings: BindingPlan;
  readonly template?: AgentTemplate;
  /** What the template wants the user to know. */
  readonly notes: readonly string[];
}

/** A folder of a removed agent. */
export interface AgentFolder {
  readonly what: "workspace" | "agentDir" | "agent";
  readonly path: string;
}

export interface RemovedAgent {
  readonly agentId: string;
  readonly removedBindings: number;
  readonly removedAllow: number;
  readonly folders: readonly AgentFolder[];
}

export interface Roster {
  /** The id that an agent of this name gets. Throws when there can be none. */
  idFor(name: string): string;
  /** The agent's workspace comes first, then its entry: an agent is never in the configuration without one. What is refused leaves nothing behind. */
  add(agent: NewAgent, by: string): Promise<AddedAgent>;
  change(agentId: string, fields: AgentFields, by: string): Promise<string>;
  /** Takes it out of the configuration, with what routes to it. Its folders stay until they are put away. */
  remove(agentId: string, by: string): Promise<RemovedAgent>;
  /** Moves folders to the trash of the state folder, unless another agent needs them. */
  putAway(agentId: string, folders: readonly AgentFolder[]): Promise<readonly (AgentFolder & PutAway)[]>;
  /** Adds what does not clash with other agents' bindings; nothing when one does and `all` is set. */
  bind(agentId: string, matches: readonly BindingMatch[], by: string, options?: { readonly all?: boolean }): Promise<BindingPlan>;
  /** Gives the bindings that were removed. Without matches these are all of the agent's. */
  unbind(agentId: string, matches: readonly BindingMatch[] | undefined, by: string): Promise<readonly WrittenBinding[]>;
  /** Folders that go with an agent. Throws when it must not be removed. */
  foldersOf(agentId: string): readonly AgentFolder[];
}

const listOf = (config: OpenClawConfig): readonly Agent[] => {
  const list = config.agents?.list ?? [];
  return list.length > 0 ? list : [{ id: "main" }];
};
const keyOf = (id: string): string => id.trim().toLowerCase();
const findIn = (config: OpenClawConfig, id: string): Agent | undefined => listOf(config).find((agent) => keyOf(agent.id) === keyOf(id));

/** Folders that are an agent's own. */
function foldersOf(agent: Agent, config: OpenClawConfig, { context, config: { paths } }: RosterDeps): readonly AgentFolder[] {
  const id = keyOf(agent.id);
  const own = agent.agentDir?.trim() ? [{ what: "agentDir", path: agentFolder(context, agent) } as const] : [];
  const usual = /^[a-z0-9][a-z0-9_-]*$/.test(id) ? [{ what: "agent", path: join(paths.state, "agents", id) } as const] : [];
  return [{ what: "workspace", path: agentWorkspace(config, context, id) }, ...own, ...usual];
}

export function createRoster(deps: RosterDeps): Roster {
  const { config } = deps;

  async function edit(make: (snapshot: Snapshot) => (written: unknown) => unknown, by: string, beforeWrite?: () => Promise<void>): Promise<void> {
    const change: ConfigEdit = { kind: "from", edit: (snapshot) => ({ kind: "change", change: make(snapshot) }) };
    await config.edit(change, { by, beforeWrite });
  }

  return {
    idFor: (name) => idFromName(printableName(name)),
    foldersOf: (agentId) => foldersOf(removable(keyOf(agentId), config.current), config.current, deps),
    add: (agent, by) => addAgent(agent, by, deps, edit),
    async change(agentId, fields, by) {
      const id = keyOf(agentId);
      if (!findIn(config.current, id)) throw notFound(id);
      const workspace = fields.workspace === undefined ? undefined : folderFrom(fields.workspace, deps);
      const seed = async (): Promise<void> => void (workspace !== undefined && (await makeWorkspace(workspace, deps)));
      await edit(() => (written) => withChangedAgent(written, id, { ...fields, workspace }), by, seed);
      return id;
    },
    remove: (agentId, by) => removeAgent(keyOf(agentId), by, deps, edit),
    putAway: (agentId, folders) => putFoldersAway(keyOf(agentId), folders, deps),
    async bind(agentId, matches, by, { all = false } = {}) {
      const id = keyOf(agentId);
      let plan: BindingPlan | undefined;
      await edit((snapshot) => {
        if (!findIn(snapshot.config, id)) throw notFound(id);
        const made = (plan = planBindings(snapshot.config, id, matches));
        return (written) => (all && made.conflicts.length > 0 ? written : withBindings(written, made.add));
      }, by);
      return plan ?? { add: [], added: [], skipped: [], conflicts: [] };
    },
    async unbind(agentId, matches, by) {
      const id = keyOf(agentId);
      let removed: readonly WrittenBinding[] = [];
      await edit(({ config: current }) => {
        if (!findIn(current, id)) throw notFound(id);
        const positions = new Set(positionsOf(current, id, matches));
        removed = (current.bindings ?? []).filter((_, index) => positions.has(index));
        return (written) => (positions.size === 0 ? written : withoutBindings(written, positions));
      }, by);
      return removed;
    },
  };
}

type Edit = (make: (snapshot: Snapshot) => (written: unknown) => unknown, by: string, beforeWrite?: () => Promise<void>) => Promise<void>;

/** The folder that a user's text means. */
function folderFrom(written: string, { config, context }: RosterDeps): string {
  return resolve(context.cwd, expandHome(written.trim(), config.paths.home));
}

async function makeWorkspace(folder: string, { config, clock, ids }: RosterDeps, template?: WorkspaceTemplate): Promise<Seeded> {
  // A template was chosen for its files.
  const skipBootstrap = template === undefined && config.current.agents?.defaults?.skipBootstrap === true;
  return seedWorkspace({ folder, skipBootstrap, template, now: clock.now, unique: () => ids.hex(6) });
}

/** Refuses what cannot be one more agent beside those of `current`. */
function checkNew(agentId: string, agentDir: string, workspace: string, current: OpenClawConfig, { config: { paths }, context }: RosterDeps): void {
  if (findIn(current, agentId)) throw alreadyExists(agentId);
  const taken = listOf(current).find((other) => agentFolder(context, other) === agentDir);
  if (taken) throw refused(`${agentDir} is the agentDir of agent "${taken.id}"; agents that share one overwrite each other's credentials`);
  checkWorkspace(workspace, { config: current, context, own: [paths.home, paths.state, paths.file] });
}

async function addAgent(agent: NewAgent, by: string, deps: RosterDeps, edit: Edit): Promise<AddedAgent> {
  const { config, context } = deps;
  const name = printableName(agent.name);
  const agentId = idFromName(name);
  const template = agent.template === undefined ? undefined : templateNamed(agent.template);
  const workspace = agent.workspace?.trim() ? folderFrom(agent.workspace, deps) : agentWorkspace({ agents: { list: [{ id: "main" }] } }, context, agentId);
  const ownDir = agent.agentDir?.trim() ? folderFrom(agent.agentDir, deps) : undefined;
  const agentDir = ownDir ?? agentFolder(context, { id: agentId });
  const { emoji = template?.identity.emoji, avatar, model } = agent;
  const theme = template?.identity.theme;
  const facts: TemplateFacts = { id: agentId, name, emoji: emoji ?? "", theme: theme ?? "" };
  const settings = template?.settings(facts);
  const identityName = template && template.id !== "personal" ? name : undefined;
  const fields: AgentFields = { name, workspace, agentDir: ownDir, model, emoji, avatar, theme, identityName, settings };
  let made: Seeded | undefined;
  let bindings: BindingPlan | undefined;
  await edit(
    (snapshot) => {
      checkNew(agentId, agentDir, workspace, snapshot.config, deps);
      const plan = (bindings = planBindings(snapshot.config, agentId, agent.bindings ?? []));
      return (written) => withBindings(withAgent(written, agentId, fields), plan.add);
    },
    by,
    async () => void (made = await makeWorkspace(workspace, deps, template && { id: template.id, facts })),
  );
  if (made?.brandNew) await initRepository(workspace, config.env());
  const none: BindingPlan = { add: [], added: [], skipped: [], conflicts: [] };
  return {
    agentId,
    name,
    workspace,
    agentDir,
    made: made?.made ?? [],
    bindings: bindings ?? none,
    ...(template ? { template } : {}),
    notes: template?.notes(facts) ?? [],
  };
}

/** How to make another agent the default. */
function otherDefault(current: OpenClawConfig, agentId: string): string {
  const at = listOf(current).findIndex(({ id }) => keyOf(id) !== agentId);
  return at < 0
    ? "add another agent first: openclaw agents add"
    : `make another agent the default first: openclaw config set agents.list[${at}].default true${
        findIn(current, agentId)?.default
          ? `, and openclaw config unset agents.list[${listOf(current).findIndex(({ id }) => keyOf(id) === agentId)}].default`
          : ""
      }`;
}

/** The agent of that id, which may go: not `main`, not the default, and so never the last one. */
function removable(agentId: string, current: OpenClawConfig): Agent {
  if (agentId === "main") throw refused(`"main" cannot be deleted`);
  const agent = findIn(current, agentId);
  if (!agent) throw notFound(agentId);
  if (defaultAgentId(current) !== agentId) return agent;
  throw refused(`agent "${agentId}" is the default: it answers messages that no binding routes elsewhere; ${otherDefault(current, agentId)}`);
}

async function removeAgent(agentId: string, by: string, deps: RosterDeps, edit: Edit): Promise<RemovedAgent> {
  let removed: RemovedAgent | undefined;
  await edit(({ config: current }) => {
    const folders = foldersOf(removable(agentId, current), current, deps);
    return (written) => {
      const { value, removedBindings, removedAllow } = withoutAgent(written, agentId);
      removed = { agentId, removedBindings, removedAllow, folders };
      return value;
    };
  }, by);
  if (!removed) throw new AppError("INTERNAL", `agent "${agentId}" was not removed`);
  return removed;
}

async function putFoldersAway(id: string, folders: readonly AgentFolder[], deps: RosterDeps): Promise<readonly (AgentFolder & PutAway)[]> {
  const { config, clock, ids, log } = deps;
  const { home, state, file } = config.paths;
  const { current } = config;
  const others = listOf(current).flatMap((agent) => (keyOf(agent.id) === id ? [] : foldersOf(agent, current, deps).map(({ path }) => path)));
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  const options = { trash: join(state, "trash"), mark: `${id}-${day}-${ids.hex(4)}`, others, fixed: [home, state, dirname(file)] };
  const results: (AgentFolder & PutAway)[] = [];
  for (const folder of folders) {
    // The agent is gone by now: a folder that cannot be moved does not bring it back.
    const outcome = await putAway(folder.path, folder.what, options).catch((error: unknown): PutAway => {
      log.warn("files of a deleted agent were not moved", { folder: folder.path, error });
      return { state: "kept", why: error instanceof Error ? error.message : String(error) };
    });
    if (outcome.state === "moved") log.info("files of a deleted agent were moved to the trash", { folder: folder.path, place: outcome.to });
    results.push({ ...folder, ...outcome });
  }
  return results;
}
