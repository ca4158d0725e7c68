import { clip } from "../base/text.ts";
import type { Subagents } from "../automation/index.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { effectiveChannelConfig, ownersBy, type Pairing } from "../channels/index.ts";
import type { OpenClawConfig, Snapshot } from "../config/index.ts";
import { createBegunCommands, createButtonSeal, loadWhy, type ChannelTable, type CommandPorts, type Conversation } from "../conversation/index.ts";
import { COMMAND_CALLER, ownCaller, queueSystemEvent, type OwnCaller } from "../gateway/index.ts";
import { matchCommand, runCommand } from "../plugins/index.ts";
import { noteItem } from "../memory/index.ts";
import { parseTranscriptLine, type HostConfig, type TranscriptEntry } from "../protocol/index.ts";
import { modelOverride } from "../sessions/index.ts";
import type { EntryRow, Store, UsageFilter } from "../store/index.ts";
import { elevationRefusal, isSessionSandboxed, mayStillGrant, namedForElevated } from "../tools/index.ts";
import type { Decision } from "../understanding/index.ts";
import type { ConversationDeps } from "./open-conversation.ts";

export interface CommandDeps extends Pick<ConversationDeps, "core" | "models" | "plugins" | "agent" | "voice" | "handlers" | "subagents"> {
  readonly channels: ChannelTable;
  readonly pairing: Pairing;
  readonly conversation: () => Conversation;
  /** What was decided about the files of a session's last message. */
  readonly mediaDecisions: (sessionKey: string) => readonly Decision[];
}

const DAY_MS = 86_400_000;

/** What commands ask of the rest of the gateway. Loaded with the first of them. */
export function commandPorts(deps: CommandDeps): CommandPorts {
  const { config, store, clock, ids, random, log, redactor, workspaceOf, requestRestart } = deps.core;
  const call = ownCaller(deps.handlers, COMMAND_CALLER);
  return {
    clock,
    ids,
    redact: redactor.text,
    onError: (command, error) => log.subsystem("conversation").error(`/${command} failed: ${messageOf(error)}`, { error }),
    config: {
      current: () => config.current,
      shown: async () => (await call("config.get", {})).config,
      edit: async (edit) => void (await config.edit(edit, { by: "command" })),
    },
    session: sessionPort(deps, call),
    runs: {
      async stop(key) {
        const { runIds, turns, dropped } = await deps.conversation().stop(key);
        const subagents = (await deps.subagents?.killBelow(key)) ?? 0;
        return { runIds, turns, waiting: dropped, processes: (await deps.agent()).killProcesses(key), subagents };
      },
      depth: (key) => deps.conversation().depth(key),
    },
    status: { facts: (key, agentId) => statusFacts(deps, key, agentId) },
    models: modelsPort(deps),
    workspace: workspaceOf,
    elevation({ agentId, channel, senderId }) {
      const sender = { agentId, channel, ...(senderId === undefined ? {} : { senderId }) };
      const reason = elevationRefusal(config.current, sender);
      return reason === undefined ? { permitted: true, named: namedForElevated(config.current, sender) } : { permitted: false, reasons: [reason] };
    },
    choice: {
      sandboxed: (agentId, sessionKey) => isSessionSandboxed(config.current, agentId, sessionKey),
      async approvals(agentId, { security, ask }) {
        const rules = (await deps.agent()).execRules.effective(agentId, { security, ask });
        return { security: rules.security, ask: rules.ask };
      },
      stillMay: (agentId) =>
        mayStillGrant(
          config.current,
          agentId,
          ownersBy(() => config.current, deps.channels),
        ),
    },
    async fire(action, sessionKey, context) {
      const hooks = deps.plugins.internalHooks;
      if (!hooks.has("command", action)) return [];
      return hooks.trigger("command", action, sessionKey, { ...context, cfg: structuredClone(config.current) });
    },
    async systemEvent(sessionKey, text) {
      await queueSystemEvent({ config, store, ids }, { sessionKey, text }).catch((error: unknown) =>
        log.subsystem("conversation").warn(`a session could not be notified: ${messageOf(error)}`, { sessionKey }),
      );
    },
    context: {
      report: async (key) => (await store.read("sessions.get", { key }))?.entry["systemPromptReport"] as never,
    },
    plugins: pluginsPort(deps),
    begun: createBegunCommands(store),
    sealButtons: createButtonSeal({ store, random }).seal,
    skills: skillsPort(deps),
    approvals: { resolve: async (id, decision, by) => (await deps.agent()).approvals.resolve(id, decision, by) },
    allowlist: allowlistPort(deps),
    usage: { summary: (key) => usageSummary(deps, key) },
    ...(deps.subagents ? { subagents: subagentsPort(deps.subagents) } : {}),
    memory: memoryPort(deps, call),
    voice: deps.voice,
    restart: (reason) => {
      const report = requestRestart({ reason, delayMs: 500 });
      if (!report.ok) throw new AppError("UNAVAILABLE", report.reason);
      return "in this process";
    },
    why: async (sessionKey, id) => (await loadWhy()).whyInSession({ store, clock }, sessionKey, id),
  };
}

function memoryPort({ core }: CommandDeps, call: OwnCaller): NonNullable<CommandPorts["memory"]> {
  return {
    async remember(agentId, text, options) {
      const item = noteItem(text, { ...options, now: core.clock.now(), timeZone: core.config.current.agents?.defaults?.userTimezone });
      for (let round = 0; ; round += 1) {
        const before = await call("memory.notes.get", { agentId, path: item.path });
        const { text: after, line } = item.added(before.text);
        try {
          await call("memory.notes.set", { agentId, path: item.path, text: after, hash: before.hash });
          return { path: item.path, line };
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== "CONFLICT" || round >= 5) throw error;
        }
      }
    },
    forget: (agentId, request) => call("memory.forget", { agentId, ...request }),
    shown: new Map(),
  };
}

function skillsPort(deps: CommandDeps): NonNullable<CommandPorts["skills"]> {
  return {
    async list(agentId) {
      const { skills } = await deps.agent();
      const { skills: found } = await skills.status(deps.core.workspaceOf(agentId));
      const { skillsOfAgent } = await import("../agent/index.ts");
      const own = skillsOfAgent(deps.core.config.current, agentId);
      return found
        .filter(({ name, eligible, userInvocable }) => eligible && userInvocable && (own?.includes(name) ?? true))
        .map(({ name, description, filePath, dispatch }) => {
          return { name, description: description ?? "", location: filePath, ...(dispatch ? { tool: dispatch.tool } : {}) };
        });
    },
    callTool: (asked, tool, args) => callTool(deps, asked, tool, args),
  };
}

/** Sub-agents for commands: those that a person starts work with that person's rights, and report to the chat of the command. */
function subagentsPort(subagents: Subagents): NonNullable<CommandPorts["subagents"]> {
  return {
    ...subagents,
    spawn({ agentId, channel, accountId, senderId, owner, ctx, isGroup }, { sessionKey, cause, agentId: target, task, model, thinking }) {
      const to = ctx.OriginatingTo;
      const thread = ctx.MessageThreadId === undefined ? {} : { threadId: ctx.MessageThreadId };
      const isChat = to !== undefined && channel !== "webchat" && to !== sessionKey;
      const reply = isChat ? { channel, accountId, to, chatType: isGroup ? ("group" as const) : ("direct" as const), ...thread } : undefined;
      return subagents.spawn({
        requester: { sessionKey, agentId, runId: "command" },
        cause,
        origin: { channel, accountId, owner, ...(senderId === undefined ? {} : { senderId }), ...(reply ? { reply } : {}) },
        task,
        agentId: target,
        model,
        thinking,
      });
    },
  };
}

/** A tool in place of a model, for a skill that names one: with the rights of its author, and past the same policies and hooks. */
async function callTool(
  { agent, core: { store, ids, workspaceOf } }: CommandDeps,
  { sessionKey, agentId, owner, channel, accountId, senderId, signal }: Parameters<NonNullable<NonNullable<CommandPorts["skills"]>["callTool"]>>[0],
  tool: string,
  args: Readonly<Record<string, unknown>>,
): Promise<{ readonly text: string } | undefined> {
  const sessionId = (await store.read("sessions.get", { key: sessionKey }))?.entry.sessionId ?? "";
  const who = { agentId, sessionKey, sessionId, runId: ids.uuid(), workspaceDir: workspaceOf(agentId), owner, channel, accountId };
  const toolbox = await (await agent()).broker.open(senderId === undefined ? who : { ...who, senderId });
  if (!toolbox.schemas.some(({ name }) => name === tool)) return undefined;
  const { content } = await toolbox.run({ id: `skill_${ids.hex(4)}`, name: tool, arguments: args, signal });
  return { text: content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n") };
}

/** Makes a session for the first thing that is set in it. Nothing that runs under its key is touched: a first turn may be about to make it as well. */
async function ensureSession({ core: { store, ids, clock } }: CommandDeps, key: string, agentId: string): Promise<void> {
  if (await store.read("sessions.get", { key })) return;
  const entry = { sessionId: ids.uuid(), updatedAt: clock.now() };
  await store.write("sessions.put", { key, agentId, entry, version: 0 }).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === "CONFLICT")) throw error;
  });
}

function sessionPort(deps: CommandDeps, call: OwnCaller): CommandPorts["session"] {
  const { store } = deps.core;
  return {
    read: async (key) => (await store.read("sessions.get", { key }))?.entry,
    async patch(key, agentId, patch) {
      await ensureSession(deps, key, agentId);
      await store.write("sessions.patch", { key, patch });
    },
    async reset(key, _agentId, reason) {
      const { entry } = await call("sessions.reset", { key, reason });
      return { sessionId: entry.sessionId };
    },
    async compact(key, _agentId, instructions, signal) {
      deps.conversation().interrupt(key);
      const done = await call("sessions.compact", { key, ...(instructions === undefined ? {} : { instructions }) }, signal);
      if (!done.compacted) return { compacted: false, reason: done.reason ?? "there was nothing to sum up" };
      return { compacted: true, tokensBefore: done.tokensBefore ?? 0, tokensAfter: done.tokensAfter ?? 0 };
    },
    async transcript(key) {
      const session = await store.read("sessions.get", { key });
      if (!session) return undefined;
      const { sessionId } = session.entry;
      const files = await store.read("transcripts.ofSession", { agentId: session.agentId, sessionId });
      const file = files.find(({ archivedAt }) => archivedAt === null)?.file;
      return { sessionId, entries: file === undefined ? [] : await entriesOf(store, file) };
    },
  };
}

/** Entries that are read at once: others get their turn between two parts. */
const PART = 500;
const MOST_ENTRIES = 100_000;

/** The branch in use of a transcript, part by part from its leaf. */
async function entriesOf(store: Pick<Store, "read">, file: string): Promise<readonly TranscriptEntry[]> {
  const parts: TranscriptEntry[][] = [];
  let from: string | undefined;
  for (let read = 0; read < MOST_ENTRIES; read += PART) {
    const rows: readonly EntryRow[] = await store.read("transcripts.path", { file, limit: PART, ...(from === undefined ? {} : { from }) });
    parts.push(
      rows.flatMap(({ line }) => {
        const parsed = parseTranscriptLine(line);
        return parsed?.kind === "entry" ? [parsed.entry] : [];
      }),
    );
    const above = rows.length === PART ? (rows[0]?.parentId ?? null) : null;
    if (above === null) break;
    from = above;
  }
  return parts.reverse().flat();
}

/** What commands show of a session's model. They work whatever is wrong with it: `/model` mends it. */
async function described(deps: CommandDeps, key: string, agentId: string) {
  const override = modelOverride((await deps.core.store.read("sessions.get", { key }))?.entry);
  return (await deps.models.models()).describe({ agentId, ...(override ? { session: override } : {}) });
}

const REASON_CHARS = 80;

/** `📎 Media: image ok (openai/gpt-5-mini) · document failed (the PDF is protected with a password)`. */
function mediaLines(decisions: readonly Decision[]): readonly string[] {
  const shown = decisions.map(({ capability, outcome, by, reason }) => {
    const why = by ?? reason;
    return `${capability} ${outcome}${why === undefined ? "" : ` (${clip(why, REASON_CHARS)})`}`;
  });
  return shown.length === 0 ? [] : [`📎 Media: ${[...new Set(shown)].join(" · ")}`];
}

async function statusFacts(deps: CommandDeps, key: string, agentId: string): ReturnType<CommandPorts["status"]["facts"]> {
  const { ref, contextWindow, thinking, problem } = await described(deps, key, agentId);
  const { provider, id } = ref;
  const models = await deps.models.models();
  const [candidate] = await models
    .auth(agentId)
    .candidates(provider)
    .catch(() => []);
  const [totals] = await deps.core.store.read("usage.totals", { sessionKey: key, by: [] });
  return {
    version: deps.core.version,
    model: `${provider}/${id}`,
    ...(contextWindow ? { contextWindow: contextWindow.tokens } : {}),
    ...(thinking === undefined ? {} : { thinkingDefault: thinking }),
    runtime: isSessionSandboxed(deps.core.config.current, agentId, key) ? "sandbox" : "direct",
    ...(candidate ? { auth: candidate.id } : {}),
    ...(totals ? { costUsd: totals.cost } : {}),
    lines: [...(problem === undefined ? [] : [`⚠️ ${problem}`]), ...mediaLines(deps.mediaDecisions(key))],
  };
}

function modelsPort(deps: CommandDeps): CommandPorts["models"] {
  return {
    async list(agentId) {
      const { catalogue, hasCredential } = await (await deps.models.models()).choices(agentId);
      return catalogue
        .list()
        .filter(({ provider }) => hasCredential(provider))
        .map(({ provider, id, name }) => ({ provider, id, ...(name === undefined ? {} : { name }) }));
    },
    async standard(agentId) {
      return (await (await deps.models.models()).describe({ agentId })).ref;
    },
    async current(key, agentId) {
      const { ref, problem } = await described(deps, key, agentId);
      return problem === undefined ? ref : { ...ref, problem };
    },
    async levels(ref) {
      const { catalogue } = await (await deps.models.models()).choices("main");
      const extra = catalogue.find(ref) as { readonly thinkingLevels?: readonly string[] } | undefined;
      const all = ["off", "minimal", "low", "medium", "high"] as const;
      return extra?.thinkingLevels?.includes("xhigh") ? [...all, "xhigh"] : all;
    },
  };
}

function pluginsPort({ plugins, core: { config, log, clock } }: CommandDeps): NonNullable<CommandPorts["plugins"]> {
  return {
    match(text) {
      const registries = plugins.registries();
      const match = registries && matchCommand(registries.commands, text);
      if (!match) return undefined;
      const report = (pluginId: string, error: unknown): void =>
        log.subsystem("plugins").error(`a command of ${pluginId} failed: ${messageOf(error)}`, { pluginId, error });
      const late = (pluginId: string, message: string): void => log.subsystem("plugins").info(message, { pluginId });
      return {
        name: match.command.value.name,
        run: (context, signal) => runCommand(match, { ...context, config: structuredClone(config.current) }, { onError: report, onLate: late, clock, signal }),
      };
    },
    list: () =>
      (plugins.registries()?.commands.list() ?? []).map(({ owner, value: { name, description, acceptsArgs } }) => {
        return { name, description, acceptsArgs, pluginId: owner.pluginId };
      }),
  };
}

const strings = (list: unknown): string[] => (Array.isArray(list) ? list.map(String) : []);

function allowlistPort({ core: { config }, pairing, channels }: CommandDeps): NonNullable<CommandPorts["allowlist"]> {
  return {
    channels: () => channels.list().map(({ id }) => id),
    async list({ channel, accountId }) {
      const section = effectiveChannelConfig(config.current, channel, accountId);
      const { dmPolicy, groupPolicy } = section as { readonly dmPolicy?: string; readonly groupPolicy?: string };
      return {
        dm: strings(section["allowFrom"]),
        group: strings(section["groupAllowFrom"]),
        store: [...(await pairing.allowed(channel, accountId))],
        ...(dmPolicy === undefined ? {} : { dmPolicy }),
        ...(groupPolicy === undefined ? {} : { groupPolicy }),
      };
    },
    async change({ channel, accountId }, { action, scope, entry, where }) {
      const changed: string[] = [];
      const known: string[] = [];
      if (where.includes("store") && scope === "dm") {
        const done =
          action === "add" ? await pairing.allow({ channel, accountId, senderId: entry }) : await pairing.remove({ channel, accountId, senderId: entry });
        (done ? changed : known).push("store");
      }
      if (where.includes("config")) {
        const key = scope === "dm" ? "allowFrom" : "groupAllowFrom";
        const own = (config.current.channels as HostConfig["channels"])?.[channel] as { readonly accounts?: Readonly<Record<string, unknown>> } | undefined;
        const base = own?.accounts?.[accountId] === undefined ? `channels.${channel}` : `channels.${channel}.accounts.${accountId}`;
        const listIn = (cfg: OpenClawConfig) => strings(effectiveChannelConfig(cfg, channel, accountId)[key]);
        if (listIn(config.current).includes(entry) === (action === "add")) known.push("config");
        else {
          const edit = ({ config: cfg }: Snapshot) => {
            const others = listIn(cfg).filter((one) => one !== entry);
            return { kind: "set" as const, path: `${base}.${key}`, value: action === "add" ? [...others, entry] : others };
          };
          await config.edit({ kind: "from", edit }, { by: "command" });
          changed.push("config");
        }
      }
      return { changed, known };
    },
  };
}

async function usageSummary({ core: { store, clock } }: CommandDeps, key: string): ReturnType<NonNullable<CommandPorts["usage"]>["summary"]> {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const now = clock.now();
  const total = async (filter: UsageFilter): Promise<{ tokens: number; costUsd: number }> => {
    const [row] = await store.read("usage.totals", { ...filter, by: [] });
    return { tokens: row ? row.input + row.output + row.cacheRead + row.cacheWrite : 0, costUsd: row?.cost ?? 0 };
  };
  const [session, today, last30Days] = await Promise.all([
    total({ sessionKey: key }),
    total({ fromDay: day(now), toDay: day(now) }),
    total({ fromDay: day(now - 30 * DAY_MS), toDay: day(now) }),
  ]);
  return { session, today, last30Days };
}
