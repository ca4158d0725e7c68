import { homedir, hostname, release, type as systemName } from "node:os";
import { join } from "node:path";
import { createAgents, createSkills, type Agents, type SkillStatus } from "../../agent/index.ts";
import type { Logger } from "../../base/log/logger.ts";
import { sameValue, type OpenClawConfig } from "../../config/index.ts";
import type { Models } from "../../models/index.ts";
import {
  createApprovals,
  createBroker,
  createCommandRecords,
  createExecRules,
  createFileAccess,
  createFolderGrants,
  createProcesses,
  createRemembered,
  createSandboxes,
  createTaint,
  distinctTools,
  execSettings,
  explainNamed,
  explainTools,
  sessionLoops,
  shellName,
  type Approvals,
  type Broker,
  type ExecRules,
  type FileAccess,
  type OpenApproval,
  type Processes,
  type RememberedCommands,
  type Sandboxes,
  type ToolContext,
} from "../../tools/index.ts";
import { commandsFolder } from "./asked-commands.ts";
import { docsPlace } from "./docs-folder.ts";
import { currentHooks } from "../current-hooks.ts";
import type { AppAgentDeps } from "./index.ts";
import { fileRules, ownPlaces } from "./own-places.ts";
import { createToolShelf, type ToolShelf, type ToolShelfDeps } from "./tool-shelf.ts";
import { loadImageFitting, type ImageFitter } from "../../media/index.ts";
import { clip } from "../../base/text.ts";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { isInside } from "../../base/files.ts";

type Asking = Pick<SkillStatus, "eligible" | "baseDir" | "source" | "requires">;

const OF_WORKSPACES: readonly SkillStatus["source"][] = ["openclaw-workspace", "agents-skills-project"];

/**
 * Programs that eligible skills say they need. A skill in the workspace is not asked: whoever writes there would say which programs run unasked,
 * and that is the agent itself.
 */
export function trustedPrograms(skills: readonly Asking[], workspaceDir: string): readonly string[] {
  const workspace = real(workspaceDir);
  const trusted = skills.filter(({ eligible, source, baseDir }) => eligible && !OF_WORKSPACES.includes(source) && !isInside(workspace, real(baseDir)));
  return [...new Set(trusted.flatMap(({ requires }) => [...requires.bins, ...requires.anyBins]))];
}

/** Skills that a sandbox shows. */
function eligibleFolders(skills: readonly Pick<SkillStatus, "eligible" | "name" | "baseDir">[]): readonly { readonly name: string; readonly folder: string }[] {
  return skills.flatMap(({ name, baseDir, eligible }) => (eligible ? [{ name, folder: baseDir }] : []));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Longer files are no secrets by themselves. */
const MOST_BYTES = 64 * 1024;

/** Tells what files hold that the configuration names for a secret, so that it can be masked before anybody asked for it. Folders are passed over. */
function tellSecretFiles(paths: readonly string[], tell: (secret: string) => void): void {
  for (const path of paths) {
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat?.isFile() && stat.size <= MOST_BYTES) textsIn(readFileSync(path, "utf8")).forEach(tell);
    } catch {
      // Who needs it is told why it cannot be read.
    }
  }
}

/** The file itself, or every text in it where it is JSON. */
function textsIn(text: string): readonly string[] {
  try {
    return leaves(JSON.parse(text));
  } catch {
    return [text.trim()];
  }
}

function leaves(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
}

const SHOWN_CHARS = 500;

type Running = Pick<ReturnType<Processes["list"]>[number], "id" | "command" | "end">;

/** What a session waits for, one line each: commands in the background, and questions that nobody has answered. */
export function pendingWork(processes: readonly Running[], approvals: readonly OpenApproval[]): readonly string[] {
  return [
    ...processes.flatMap(({ id, command, end }) => (end ? [] : [`background process ${id}: ${command}`])),
    ...approvals.map(({ id, request }) => `approval ${id} is waited for: ${askedFor(request)}`),
  ];
}

function askedFor({ command, title, toolName }: OpenApproval["request"]): string {
  const text = [command, title, toolName].find((part): part is string => typeof part === "string" && part !== "");
  return clip((text ?? "(not told)").replace(/\s+/g, " "), SHOWN_CHARS);
}

/** Makes images small enough for models. Loaded with the first image. */
function lazyImageFitter(config: () => OpenClawConfig, log: Logger): ImageFitter {
  let loading: Promise<ImageFitter> | undefined;
  const load = async (): Promise<ImageFitter> =>
    (await loadImageFitting()).createImageFitter({ maxSide: () => config().agents?.defaults?.imageMaxDimensionPx, log });
  return async (parts) => (parts.some(({ type }) => type === "image") ? (await (loading ??= load()))(parts) : parts);
}

/** The agent and what its tools need, put together. */
export interface OpenAgent extends AsyncDisposable {
  readonly agents: Agents;
  readonly broker: Broker;
  readonly approvals: Approvals;
  readonly execRules: ExecRules;
  readonly fileAccess: FileAccess;
  readonly remembered: RememberedCommands;
  readonly sandboxes: Sandboxes;
  readonly skills: ReturnType<typeof createSkills>;
  readonly shelf: ToolShelf;
  /** How tools are explained; loaded with the agent's code. */
  readonly explaining: { readonly explainTools: typeof explainTools; readonly distinctTools: typeof distinctTools; readonly explainNamed: typeof explainNamed };
  readonly models: Models;
  workspaceOf(agentId: string): string;
  /** Ends what a session left running in the background, with all it started. Gives how many. */
  killProcesses(sessionKey: string): number;
}

/** Skills of the workspaces, of this machine, and of plugins that run. */
function openSkills(
  { config, clock, plugins, log }: AppAgentDeps,
  { home, env }: { readonly home: string; readonly env: AppAgentDeps["env"] },
): OpenAgent["skills"] {
  const places = () => ({ home, stateFolder: config.paths.state, plugins: plugins.agent()?.skillFolders() ?? [] });
  const onProblem = ({ path, message }: { readonly path: string; readonly message: string }): void => log.subsystem("agent").warn(`skill ${path}: ${message}`);
  const skills = createSkills({ config: () => config.current, places, env, platform: process.platform, clock, onProblem });
  // Both listen for as long as there is a configuration; a change after the end is none.
  plugins.onChange(skills.changed);
  config.onEvent((event) => {
    if (event.kind === "changed" && !sameValue(event.before.config.skills, event.after.config.skills)) skills.changed();
  });
  return skills;
}

/** Sessions that no conversation belongs to. */
const UNATTENDED = /(?:^|:)(?:cron|hook):/;

/** Why nobody can be asked about a call. */
function unasked({ askable, config }: AppAgentDeps, { jobId, sessionKey, unattended }: ToolContext): string | undefined {
  if (jobId !== undefined || unattended === true || UNATTENDED.test(sessionKey)) return "nobody can be asked during a scheduled or automatic run";
  if (config.current.approvals?.exec?.enabled === true || askable?.() !== false) return undefined;
  return "nobody can be asked: no client that decides about approvals is connected, and approvals.exec sends no questions to chats";
}

/** Decides which files tools may reach. */
function openFileAccess(
  deps: AppAgentDeps,
  more: { readonly home: string; readonly log: Logger; readonly approvals: Approvals; readonly execRules: ExecRules },
  stack: AsyncDisposableStack,
): FileAccess {
  const { config, env, clock, ids, workspaceOf } = deps;
  const { home, log, approvals, execRules } = more;
  const own = ownPlaces({ config, env, home, cwd: process.cwd(), uid: process.getuid?.(), workspaceOf });
  const tellSecrets = (): void => tellSecretFiles(own().secrets, deps.redactor.register);
  tellSecrets();
  stack.use(config.onEvent(tellSecrets));
  const { state, home: ownHome } = config.paths;
  const grants = createFolderGrants({ path: join(state, "file-approvals.json"), clock, ids, log, homes: [home, ownHome] });
  return createFileAccess({
    own,
    rules: (agentId) => fileRules(config.current, agentId, ownHome),
    shared: [join(state, "media"), join(state, "canvas")],
    skillsDecide: (agentId) => execRules.effective(agentId, execSettings(config.current, agentId)).autoAllowSkills,
    grants,
    approvals,
    unasked: (context) => unasked(deps, context),
    log,
    ignoreCase: process.platform === "win32" || process.platform === "darwin",
  });
}

function openSandboxes(
  deps: AppAgentDeps,
  { home, log, skills }: { readonly home: string; readonly log: Logger; readonly skills: Pick<OpenAgent["skills"], "status"> },
) {
  const { config, env, clock, ids, workspaceOf } = deps;
  return createSandboxes({
    config: () => config.current,
    stateDir: config.paths.state,
    ownFiles: () => config.sources(),
    env,
    home,
    uid: process.getuid?.(),
    clock,
    ids,
    log,
    skills: async (agentId) => eligibleFolders((await skills.status(workspaceOf(agentId))).skills),
  });
}

const MOST_LOOKED_AT = 500;

/** Names of the tools whose results a session holds. */
async function toolsUsed({ store }: AppAgentDeps, sessionKey: string): Promise<ReadonlySet<string>> {
  const session = await store.read("sessions.get", { key: sessionKey });
  if (!session) return new Set();
  const { agentId, entry } = session;
  const files = await store.read("transcripts.ofSession", { agentId, sessionId: entry.sessionId });
  const file = files.find(({ archivedAt }) => archivedAt === null)?.file;
  const rows = file === undefined ? [] : await store.read("transcripts.tail", { file, limit: MOST_LOOKED_AT });
  return new Set(rows.flatMap(({ line }) => /"toolName":"([^"]+)"/.exec(line)?.[1] ?? []));
}

/** Ends those that still run. Gives how many. */
function killAll(processes: ReturnType<ReturnType<typeof createProcesses>["list"]>): number {
  const alive = processes.filter(({ end }) => end === undefined);
  for (const process of alive) process.kill();
  return alive.length;
}

export async function openAgent(deps: AppAgentDeps): Promise<OpenAgent> {
  await using stack = new AsyncDisposableStack();
  const { config, store, clock, ids, random, env } = deps;
  const log: Logger = deps.log.subsystem("agent");
  const home = homedir();
  const { workspaceOf } = deps;
  const hooks = currentHooks(deps.plugins);
  const approvals = createApprovals({ store, clock, ids, notify: deps.notify });
  const execRules = createExecRules({ path: join(config.paths.state, "exec-approvals.json"), clock, ids, random });
  const remembered = createRemembered({ store, clock, ids });
  const fileAccess = openFileAccess(deps, { home, log: deps.log.subsystem("tools"), approvals, execRules }, stack);
  const records = createCommandRecords({ folder: commandsFolder(config.paths.state), redact: deps.redactor.secrets, warn: log.warn });
  const processes = stack.use(createProcesses({ clock, random, secrets: deps.redactor.stream, records }));
  const skills = stack.use(openSkills(deps, { home, env }));
  const sandboxes = openSandboxes(deps, { home, log, skills });
  const skillPrograms: ToolShelfDeps["skillPrograms"] = async ({ workspaceDir }) => trustedPrograms((await skills.status(workspaceDir)).skills, workspaceDir);
  const fitImages = lazyImageFitter(() => config.current, log);
  const shelf = createToolShelf({ ...deps, log, home, fitImages, approvals, execRules, remembered, fileAccess, processes, sandboxes, skillPrograms });
  const untilPlugins = deps.plugins.settled;
  const broker = createBroker({
    clock,
    ready: untilPlugins,
    refusal: () => deps.plugins.missingGuards()[0]?.message,
    log: deps.log.subsystem("tools"),
    config: () => config.current,
    tools: shelf.tools,
    facts: shelf.facts,
    hooks,
    policies: { evaluate: (...args) => deps.plugins.agent()?.policies.evaluate(...args) ?? Promise.resolve(undefined) },
    askApproval: approvals.ask,
    redact: deps.redactor.secrets,
    fitImages,
    taint: createTaint({ settings: () => config.current.tools?.taint, history: (sessionKey) => toolsUsed(deps, sessionKey) }),
    ...sessionLoops({ config: () => config.current, log }),
  });
  const agents = createAgents({
    ...deps.models,
    ready: untilPlugins,
    store,
    clock,
    ids,
    log,
    config,
    env,
    hooks,
    redactor: deps.redactor,
    fitImages,
    internalHooks: () => deps.plugins.agent()?.internalHooks,
    broker: () => Promise.resolve(broker),
    skills: () => Promise.resolve(skills),
    workspaceOf,
    stateDir: config.paths.state,
    host: { host: hostname(), os: `${systemName()} ${release()}`, arch: process.arch, node: process.version, shell: shellName(env["SHELL"], env["PATH"]) },
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    pendingWork: (sessionKey) => pendingWork(processes.list(sessionKey), approvals.open(sessionKey)),
    ...docsPlace(),
    sandbox: ({ agentId, sessionKey }) => sandboxes.state({ agentId, sessionKey, workspaceDir: workspaceOf(agentId) }),
  });
  const former = await approvals.denyFormer();
  if (former > 0) log.info(`${former} questions of the process before this one were denied: whoever asked is gone`);
  const kept = stack.move();
  const models = await deps.models.models();
  return {
    agents,
    shelf,
    explaining: { explainTools, distinctTools, explainNamed },
    models,
    broker,
    approvals,
    execRules,
    fileAccess,
    remembered,
    sandboxes,
    skills,
    workspaceOf,
    killProcesses: (sessionKey) => killAll(processes.list(sessionKey)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
