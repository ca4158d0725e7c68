import { tmpdir } from "node:os";
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { fetchFile } from "../base/fetch-file.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import { programFolder } from "../base/program-folders.ts";
import type { IsOwner } from "../channels/index.ts";
import { defaultAgentId, type Config, type Env } from "../config/index.ts";
import type { Hooks } from "../hooks/index.ts";
import type { Documents, ImageFitter } from "../media/index.ts";
import type { Memory } from "../memory/index.ts";
import type { Imaging } from "../imaging/index.ts";
import type { Voice } from "../voice/index.ts";
import type { Models } from "../models/index.ts";
import { agentOfKey, type ChannelPlugin } from "../protocol/index.ts";
import type { Store } from "../store/index.ts";
import type { Approvals } from "./approvals/approvals.ts";
import { elevationFor, execSettingsFor } from "./authority/caller-settings.ts";
import type { PolicyFacts } from "./broker/broker.ts";
import { filesFor, resolvePath, type CallFiles } from "./builtin/files/paths.ts";
import type { ImageToolDeps } from "./builtin/image/image.ts";
import { applyPatchWorkspaceOnly } from "./builtin/patch/availability.ts";
import type { SessionModels } from "./builtin/session/deps.ts";
import type { SessionPost } from "./builtin/session/sessions-send.ts";
import { BUILTIN_TOOLS, type BuiltinDeps } from "./catalog.ts";
import { createTools } from "./declaration.ts";
import type { CommandEnd, ExecToolDeps } from "./exec/deps.ts";
import { createCommandRules, type CommandRules } from "./exec/explain-command.ts";
import type { NodeRunner } from "./exec/on-node.ts";
import type { RememberedCommands } from "./exec/remember/remembered.ts";
import type { ExecRules } from "./exec/rules-file.ts";
import { execSettings } from "./exec/settings.ts";
import { createWithheldHints } from "./exec/withheld.ts";
import type { FileAccess } from "./file-access/file-access.ts";
import { fileRules } from "./file-access/own-places.ts";
import { groupOfKey, groupPolicy, type GroupFacts } from "./policy/group.ts";
import type { Processes } from "./process/processes.ts";
import type { Sandboxes } from "./sandbox/sandboxes.ts";
import type { Tool, ToolCall, ToolContext } from "./tool.ts";
import { createMarkUntrusted } from "./untrusted/mark.ts";

export interface ToolSetDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly env: Env;
  readonly home: string;
  readonly version: string;
  /** Masks secrets in texts. */
  readonly redact: (text: string) => string;
  readonly models: () => Promise<Models>;
  readonly memory: Memory;
  readonly voice: () => Promise<Voice>;
  readonly imaging: () => Promise<Imaging>;
  readonly hooks: Pick<Hooks, "has" | "run">;
  readonly fitImages: ImageFitter;
  readonly documents: Documents;
  readonly approvals: Approvals;
  readonly execRules: ExecRules;
  readonly fileAccess: FileAccess;
  readonly remembered: RememberedCommands;
  readonly processes: Processes;
  readonly sandboxes: Sandboxes;
  /** Names of programs that may run without a question where the rules allow it. */
  readonly skillPrograms: (context: Pick<ToolContext, "agentId" | "workspaceDir">) => Promise<readonly string[]>;
  /** Whether a sender is an owner by the configuration as it is now. */
  readonly isOwner: IsOwner;
  /** The plugin of a channel that runs. */
  readonly channelOf?: ((id: string) => ChannelPlugin | undefined) | undefined;
  /** Tools of plugins that run. */
  readonly pluginTools: (context: ToolContext, facts: { readonly sandboxed: boolean }) => readonly Tool[];
  /** Tools that look after the gateway itself. */
  readonly gatewayTools?: (() => Promise<readonly Tool[]>) | undefined;
  /** Messages from one session to another. */
  readonly sessionPost?: SessionPost | undefined;
  /** Queues a text for a session's next turn. */
  readonly announce: (sessionKey: string, text: string, end?: CommandEnd) => void;
  /** Runs commands on nodes. */
  readonly nodes?: NodeRunner | undefined;
  /** What happens with commands that wait for approval. */
  readonly asked?: Pick<ExecToolDeps, "origin" | "goOn" | "show"> | undefined;
}

/** Every tool there is, before policy, and what policy has to know. */
export interface ToolSet {
  readonly tools: (context: ToolContext) => Promise<readonly Tool[]>;
  readonly facts: (context: ToolContext) => Promise<PolicyFacts>;
  /** The files that a call of a tool above this module may reach, as the file tools reach them. */
  readonly filesOf: (tool: string, call: ToolCall) => CallFiles;
  /** The rules for commands, for people. */
  readonly commandRules: CommandRules;
}

/** Combinations of agent and model whose built-in tools are held at a time. */
const MAX_CHOICES = 64;

export function createToolSet(deps: ToolSetDeps): ToolSet {
  const { config, sandboxes, gatewayTools, pluginTools } = deps;
  // Created once: some tools hold state between calls.
  const builtin = builtinDeps(deps);
  const offered = createTools(BUILTIN_TOOLS, builtin);
  let known = { config: config.current, tools: new Map<string, readonly Tool[]>() };

  /** The built-in tools that the configuration offers an agent with a model, chosen once per configuration. */
  function coreTools({ agentId, provider, modelId, skills }: ToolContext): readonly Tool[] {
    const current = config.current;
    if (known.config !== current || known.tools.size >= MAX_CHOICES) known = { config: current, tools: new Map() };
    const searchesSkills = skills !== undefined;
    const key = JSON.stringify([agentId, provider, modelId, searchesSkills]);
    const found = known.tools.get(key) ?? offered({ config: current, agentId, provider, modelId, searchesSkills });
    known.tools.set(key, found);
    return found;
  }

  return {
    commandRules: createCommandRules(builtin),
    filesOf: (tool, call) => ({ ...filesFor(tool, call, builtin), resolve: (written) => resolvePath(written, call.context, deps.home) }),
    async tools(context) {
      const sandboxed = sandboxes.isSandboxed(context);
      const tools = [...coreTools(context), ...(gatewayTools ? await gatewayTools() : []), ...pluginTools(context, { sandboxed })];
      const withheld = sandboxed ? sandboxes.withheld(context) : [];
      return withheld.length === 0 ? tools : tools.filter(({ name }) => !withheld.includes(name));
    },
    /** The session's group, its sandbox, how deep a subagent it is. */
    async facts(context) {
      const { sessionKey } = context;
      const isSubagent = sessionKey.includes(":subagent:");
      const spawned = isSubagent ? (await deps.store.read("sessions.get", { key: sessionKey }))?.entry : undefined;
      const mayHaveGroup = spawned?.spawnedBy !== undefined || /:(?:group|channel):/.test(sessionKey);
      const group = mayHaveGroup ? groupPolicyFor(deps, context, spawned?.spawnedBy) : undefined;
      const depth = spawned?.spawnDepth ?? sessionKey.split(":subagent:").length - 1;
      const maxDepth = config.current.agents?.defaults?.subagents?.maxSpawnDepth ?? 1;
      return { sandboxed: sandboxes.isSandboxed(context), ...(group ? { group } : {}), ...(depth > 0 ? { subagent: { depth, maxDepth } } : {}) };
    },
  };
}

/** What a session's group says about tools: the channel's plugin before the configuration. A subagent's session has the group of the one that started it. */
function groupPolicyFor(
  { config, channelOf, log }: ToolSetDeps,
  { sessionKey, channel, accountId, senderId }: ToolContext,
  spawnedBy: string | undefined,
): PolicyFacts["group"] {
  if (!groupOfKey(sessionKey) && spawnedBy === undefined) return undefined;
  const sender = senderId === undefined ? undefined : { id: senderId };
  const facts = { config: config.current, sessionKey, spawnedBy, channel, accountId, sender };
  return channelPolicy(channelOf, facts, log) ?? groupPolicy(facts);
}

/**
 * What a channel's own plugin says about tools in a group; it goes before the configuration's general rules. A plugin that fails to answer is taken to allow
 * nothing there.
 */
export function channelPolicy(
  channelOf: ((id: string) => Pick<ChannelPlugin, "groups"> | undefined) | undefined,
  { config, sessionKey, spawnedBy, accountId, sender }: GroupFacts,
  log: Pick<Logger, "warn">,
): PolicyFacts["group"] {
  const found = groupOfKey(sessionKey) ?? (spawnedBy === undefined ? undefined : groupOfKey(spawnedBy));
  if (!found) return undefined;
  const groups = channelOf?.(found.channel)?.groups;
  if (!groups?.resolveToolPolicy) return undefined;
  const at = `the plugin of ${found.channel} for the group ${found.groupId}`;
  try {
    const policy = groups.resolveToolPolicy({ cfg: config, groupId: found.groupId, accountId, senderId: sender?.id });
    return policy && { at, ...policy };
  } catch (error) {
    log.warn(`${at} could not determine which tools are allowed: ${messageOf(error)}; none are allowed`);
    return { at, deny: ["*"] };
  }
}

/** What the session tools ask about models. */
function sessionModels(deps: ToolSetDeps): SessionModels {
  return {
    async describe({ agentId, override }) {
      const models = await deps.models();
      const { entry, reason, thinking, contextWindow } = await models.select({ agentId, ...(override ? { session: override } : {}) });
      return { ref: `${entry.provider}/${entry.id}`, why: reason.text, thinking, contextWindow: contextWindow.tokens };
    },
    async setModel(sessionKey, ref) {
      const agentId = agentOfKey(sessionKey, { defaultAgentId: defaultAgentId(deps.config.current) });
      const models = await deps.models();
      const chosen = ref === "default" ? undefined : (await models.select({ agentId, override: ref })).entry;
      if (!(await deps.store.read("sessions.get", { key: sessionKey }))) throw new AppError("INVALID_INPUT", `there is no session ${sessionKey}`);
      const patch = { providerOverride: chosen?.provider ?? null, modelOverride: chosen?.id ?? null };
      await deps.store.write("sessions.patch", { key: sessionKey, patch });
      const { entry } = chosen ? { entry: chosen } : await models.select({ agentId });
      return `${entry.provider}/${entry.id}`;
    },
  };
}

/** Has a model that can see say what is in pictures. */
function describeImages(deps: ToolSetDeps): ImageToolDeps["describe"] {
  return async ({ images, prompt, model, maxTokens, signal, context }) => {
    const { agentId, sessionKey, sessionId, runId } = context;
    const models = await deps.models();
    const seeing = await models.imageModels({ agentId, model });
    if (seeing.length === 0) throw new AppError("UNAVAILABLE", "no model that takes images is configured: set agents.defaults.imageModel");
    const messages = [{ role: "user", content: [{ type: "text", text: prompt }, ...images], timestamp: deps.clock.now() }] as const;
    const call = models.call(agentId, { runId, agentId, sessionKey, sessionId, models: seeing, messages, thinking: "off", maxTokens, signal });
    for await (const event of call) {
      if (event.type !== "done") continue;
      const { result } = event;
      if (!result.ok) throw new AppError("UNAVAILABLE", result.text);
      const text = result.message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
      return { text, provider: result.message.provider, model: result.message.model };
    }
    throw new AppError("INTERNAL", "the image model call ended without a result");
  };
}

const IMAGE_TIMEOUT_MS = 30_000;

/** What the tools work with: files, then commands, then sessions and the web. */
function builtinDeps(deps: ToolSetDeps): BuiltinDeps {
  const { ids, home, config, clock, log, env, approvals, execRules, remembered, processes, sandboxes, skillPrograms, fileAccess, store, version, redact } =
    deps;
  const chosenBy = (context: ToolContext) => ({ config: config.current, sandboxed: sandboxes.isSandboxed(context), isOwner: deps.isOwner });
  const passEnv = (sessionKey: string) => execSettings(config.current, agentOfKey(sessionKey, { defaultAgentId: defaultAgentId(config.current) })).passEnv;
  return {
    ids,
    home,
    clock,
    log,
    config: () => config.current,
    workspaceOnly: (agentId) => fileRules(config.current, agentId, home).workspaceOnly,
    patchWorkspaceOnly: (agentId) => applyPatchWorkspaceOnly(config.current, agentId),
    place: (context) => sandboxes.for(context)?.files,
    access: fileAccess,
    describe: describeImages(deps),
    fitImages: deps.fitImages,
    imageFolders: () => [tmpdir()],
    mediaMaxMb: () => config.current.agents?.defaults?.mediaMaxMb,
    fetchImage: (url, { maxBytes, signal }) => fetchFile(url, { maxBytes, signal, timeoutMs: IMAGE_TIMEOUT_MS }, clock),
    processes,
    approvals,
    rules: execRules,
    remembered,
    settings: (context) => execSettingsFor(context, chosenBy(context)),
    env,
    programFolder: programFolder(),
    hints: createWithheldHints(env, passEnv),
    ignoreCase: process.platform === "win32" || process.platform === "darwin",
    sandboxed: (context) => sandboxes.isSandboxed(context),
    sandbox: (context) => sandboxes.for(context),
    skillPrograms,
    sealed: (context) => ({
      isSealed: (path) => fileAccess.isSealed(context, path),
      holdsSealed: (folder) => fileAccess.holdsSealed(context, folder),
    }),
    canBackground: ({ offered }) => offered?.has("process") ?? true,
    pluginEnvironment: ({ agentId, sessionKey, channel }, host) => pluginEnvironment(deps, { agentId, sessionKey, channel }, host),
    elevation: (context) => elevationFor(context, chosenBy(context)),
    announce: (context, text, end) => deps.announce(context.sessionKey, text, end),
    ...deps.asked,
    nodes: deps.nodes,
    store,
    stateDir: config.paths.state,
    version,
    models: sessionModels(deps),
    memory: deps.memory,
    voice: deps.voice,
    imaging: deps.imaging,
    isSandboxed: (who) => sandboxes.isSandboxed(who),
    redact,
    post: deps.sessionPost,
    mark: createMarkUntrusted(ids),
    documents: deps.documents,
    secret: (name) => config.env()[name],
    resolveSecret: config.resolveSecret,
  };
}

/** `resolve_exec_env`: the variables that plugins add to a command, already filtered. Refused ones are logged by name. */
async function pluginEnvironment(
  { hooks, log }: ToolSetDeps,
  { agentId, sessionKey, channel }: { readonly agentId: string; readonly sessionKey: string; readonly channel: string | undefined },
  host: "sandbox" | "gateway" | "node",
): Promise<Readonly<Record<string, string>>> {
  if (!hooks.has("resolve_exec_env")) return {};
  const facts = { agentId, sessionKey, ...(channel === undefined ? {} : { messageProvider: channel }) };
  const found = await hooks.run("resolve_exec_env", { sessionKey, toolName: "exec", host }, facts);
  if (found && found.dropped.length > 0) log.warn(`skipped variables that plugins may not set: ${found.dropped.join(", ")}`, { sessionKey });
  return found?.env ?? {};
}
