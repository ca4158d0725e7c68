import type { Subagents } from "../automation/index.ts";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Agents } from "../agent/index.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import { createAllowLists, createChannelActivity, createPairing, type AllowLists, type Pairing } from "../channels/index.ts";
import { oauthFolder } from "../config/index.ts";
import {
  createConversation,
  lazyCommands,
  lazyDelivery,
  loadCommands,
  loadDelivery,
  loadKeepMedia,
  type ChannelTable,
  type Commands,
  type Conversation,
  type Delivery,
  type Messages,
} from "../conversation/index.ts";
import type { Handlers } from "../gateway/index.ts";
import { currentHooks } from "../hooks/index.ts";
import type { LazyModels } from "../models/index.ts";
import { channelTable, type Plugins } from "../plugins/index.ts";
import { createRouting, type Routing } from "../routing/index.ts";
import { lazyUnderstanding } from "../understanding/index.ts";
import { mayBeSpoken, type Voice } from "../voice/index.ts";
import type { Core } from "./core.ts";
import type { OpenAgent } from "./open-agent.ts";

export interface ConversationDeps {
  readonly core: Pick<
    Core,
    | "config"
    | "currentConfig"
    | "store"
    | "clock"
    | "ids"
    | "random"
    | "log"
    | "env"
    | "version"
    | "redactor"
    | "runnable"
    | "defaultAgentId"
    | "workspaceOf"
    | "documents"
    | "requestRestart"
  >;
  readonly models: Pick<LazyModels, "models" | "budgets">;
  readonly plugins: Pick<Plugins, "hooks" | "agent" | "internalHooks" | "registries" | "settled">;
  /** The gateway's methods, once they are there. */
  readonly handlers: () => Handlers | undefined;
  readonly agents: () => Promise<Pick<Agents, "turn" | "after">>;
  /** The agent, opened when it is not yet. */
  readonly agent: () => Promise<OpenAgent>;
  readonly voice: () => Promise<Voice>;
  /** Absent where nothing starts sub-agents. */
  readonly subagents?: Subagents;
}

/** Conversations and what belongs to them. */
export interface OpenConversation {
  readonly conversation: Conversation;
  readonly delivery: Delivery;
  readonly commands: Commands;
  readonly pairing: Pairing;
  readonly allowLists: AllowLists;
  readonly routing: Routing;
  readonly channels: ChannelTable;
  readonly activity: ReturnType<typeof createChannelActivity>;
  /** Sending on request, for methods and tools. */
  readonly messages: () => Promise<Messages>;
  /** Folders that files may be sent from. */
  readonly mediaRoots: (agentId: string | undefined) => readonly string[];
  /** Rejects when a file may not be handed to a channel. */
  readonly mediaReadable: (agentId: string | undefined, path: string) => Promise<void>;
}

/** Who is allowed to write, and who asks to be. */
function openAccess({ store, clock, ids, random, config, env }: ConversationDeps["core"], log: Logger): Pick<OpenConversation, "allowLists" | "pairing"> {
  const folder = oauthFolder({ env, exists: existsSync, osHome: homedir(), cwd: process.cwd() });
  const allowLists = createAllowLists({ store, files: { folder, cfg: config.current, clock, ids, problem: (text) => log.warn(text) } });
  return { allowLists, pairing: createPairing({ store, clock, random, ids, lists: allowLists }) };
}

function openMedia({ core, agent }: ConversationDeps): Pick<OpenConversation, "mediaRoots" | "mediaReadable"> {
  const { config, workspaceOf, defaultAgentId } = core;
  return {
    mediaRoots: (agentId) => [workspaceOf(agentId ?? defaultAgentId()), join(config.paths.state, "media")],
    async mediaReadable(agentId, path) {
      if (/^https?:/i.test(path)) return;
      const { fileAccess } = await agent();
      const id = agentId ?? defaultAgentId();
      await fileAccess.mayRead({ agentId: id, workspaceDir: workspaceOf(id) }, path, { sealedOnly: agentId === undefined });
    },
  };
}

function openDelivery(
  { core, plugins: { internalHooks } }: ConversationDeps,
  parts: Pick<OpenConversation, "channels" | "activity" | "mediaRoots" | "mediaReadable"> & { readonly hooks: ReturnType<typeof currentHooks> },
): Delivery & AsyncDisposable {
  const { store, clock, ids, random, log, currentConfig, redactor } = core;
  const { channels: table, ...others } = parts;
  return lazyDelivery(async () =>
    (await loadDelivery()).createDelivery({
      store,
      clock,
      ids,
      random,
      internalHooks,
      log: log.subsystem("delivery"),
      config: currentConfig,
      table,
      ...others,
      redact: redactor.secrets,
    }),
  );
}

/** Builds conversations. Commands, delivery and the code that fetches files are loaded when they are needed. */
export function openConversation(deps: ConversationDeps, stack: AsyncDisposableStack): OpenConversation {
  const { config, currentConfig, store, clock, ids, random, redactor, runnable, defaultAgentId } = deps.core;
  const { plugins, agents } = deps;
  const log = deps.core.log.subsystem("conversation");
  const hooks = currentHooks(plugins.hooks);
  const { internalHooks } = plugins;
  const channels = channelTable(plugins);
  const routing = createRouting();
  const activity = createChannelActivity(clock);
  const { allowLists, pairing } = openAccess(deps.core, log);
  const { mediaRoots, mediaReadable } = openMedia(deps);
  const delivery = stack.use(openDelivery(deps, { hooks, channels, activity, mediaRoots, mediaReadable }));
  const understanding = lazyUnderstanding(currentConfig, async () =>
    (await import("./open-understanding.ts")).openUnderstanding(deps.core, deps.models, plugins),
  );
  const commands = lazyCommands({ config: currentConfig, redact: (text) => runnable(redactor.secrets(text)) }, async () => {
    const [{ createCommands }, { commandPorts }] = await Promise.all([loadCommands(), import("./command-ports.ts")]);
    const { core, models, agent, voice, handlers, subagents } = deps;
    return createCommands(
      commandPorts({
        core,
        models,
        plugins,
        agent,
        voice,
        handlers,
        ...(subagents ? { subagents } : {}),
        channels,
        pairing,
        conversation: () => conversation,
        mediaDecisions: (key) => understanding.last(key),
      }),
    );
  });
  const conversation: Conversation = stack.use(
    createConversation({
      store,
      clock,
      ids,
      random,
      hooks,
      internalHooks,
      log,
      config,
      agents,
      routing,
      channels,
      pairing,
      allowLists,
      delivery,
      commands,
      keepMedia: async (...args) => (await loadKeepMedia()).mediaKeeper({ config, ids, channels })(...args),
      understand: understanding.understand,
      speech: {
        isWanted: (entry) => mayBeSpoken(config, entry?.["ttsAuto"]),
        speak: async (answer) => (await deps.voice()).speakAnswer(answer),
        hint: async (entry) => (await deps.voice()).hint(entry?.["ttsAuto"]),
      },
      transcribe: async (recording, signal) => (await (await deps.voice()).transcribe(recording, signal))?.text,
      mediaRoots,
      redact: redactor.text,
      runnable,
      defaultAgentId,
      untilPlugins: plugins.settled,
    }),
  );
  const messages = lazy(async () => (await loadDelivery()).createMessages({ delivery, channels, config: currentConfig, log }));
  return { conversation, delivery, commands, pairing, allowLists, routing, channels, activity, mediaRoots, mediaReadable, messages };
}
