import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Agents } from "../../agent/index.ts";
import { lazy } from "../../base/lazy.ts";
import type { Logger } from "../../base/log/logger.ts";
import { createAllowLists, createChannelActivity, createPairing, isControlCommandMessage, type AllowLists, type Pairing } from "../../channels/index.ts";
import { oauthFolder, type OpenClawConfig } from "../../config/index.ts";
import {
  createConversation,
  loadCommands,
  loadDelivery,
  loadWhy,
  type Commands,
  type Conversation,
  type Delivery,
  type Messages,
} from "../../conversation/index.ts";
import type { Handlers } from "../../gateway/index.ts";
import { createRouting, type Routing } from "../../routing/index.ts";
import type { OpenAgent } from "../agent/open.ts";
import type { AppModels } from "../models.ts";
import type { OpenGatewayDeps } from "../open-gateway.ts";
import { currentHooks } from "../current-hooks.ts";
import { ownCaller } from "../own-caller.ts";
import type { Plugins } from "../plugins/index.ts";
import { channelTable, type AppChannels } from "./channel-table.ts";
import { maskValue } from "../../base/secret-search.ts";

/** Delivery whose code is loaded when something is sent, or is found unsent. */
function lazyDelivery(load: () => Promise<Delivery>): Delivery {
  let loaded: Delivery | undefined;
  /** Requests on their way to the outbox. */
  let sending = 0;
  const listeners = new Set<Parameters<Delivery["onSettled"]>[0]>();
  const open = lazy(async () => {
    loaded = await load();
    loaded.onSettled((row) => {
      for (const listener of listeners) listener(row);
    });
    return loaded;
  });
  return {
    prepare: async (...args) => (await open()).prepare(...args),
    kick: () => void open().then((delivery) => delivery.kick()),
    async send(...args) {
      sending += 1;
      try {
        return await (await open()).send(...args);
      } finally {
        sending -= 1;
      }
    },
    resume: async () => (await open()).resume(),
    attach(live, deliver) {
      const held = new DisposableStack();
      open().then(
        (delivery) => void (held.disposed || held.use(delivery.attach(live, deliver))),
        () => {}, // Whoever sends is told.
      );
      return held;
    },
    onSettled(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    open: () => (loaded?.open() ?? 0) + sending,
    isBusy: (address) => (loaded ? loaded.isBusy(address) : open.started() !== undefined),
    async [Symbol.asyncDispose]() {
      await (await open.started()?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

/** Commands whose code is loaded with the first message that may be one. */
function lazyCommands(
  { config, redact }: { readonly config: () => OpenClawConfig; readonly redact: (text: string) => string },
  load: () => Promise<Commands>,
): Commands {
  const open = lazy(load);
  return {
    isControl: (text, options) => isControlCommandMessage(text, config(), options),
    async run(call) {
      const verdict = await (await open()).run(call);
      return verdict.kind === "answered" ? { ...verdict, reply: maskValue(verdict.reply, redact) } : verdict;
    },
    native: async (...args) => (await open()).native(...args),
    list: async (...args) => (await open()).list(...args),
  };
}

export interface ConversationRoomDeps extends OpenGatewayDeps {
  readonly models: AppModels;
  readonly plugins: Plugins;
  readonly defaultAgentId: () => string;
  readonly handlers: () => Handlers | undefined;
  /** Makes the commands in a text run as they are printed. */
  readonly runnable: (text: string) => string;
  readonly workspaceOf: (agentId: string) => string;
  readonly agents: () => Promise<Pick<Agents, "turn" | "after">>;
  /** Opens the agent's room when it is not yet. */
  readonly agent: () => Promise<OpenAgent>;
}

/** What commands are built on. */
export interface CommandDeps extends ConversationRoomDeps {
  readonly conversation: () => Conversation;
  readonly pairing: Pairing;
  readonly channels: AppChannels;
  /** Ends what a session left running in the background. Gives how many. */
  readonly killProcesses: (sessionKey: string) => Promise<number>;
  readonly why?: (sessionKey: string, id: string | undefined) => Promise<string | undefined>;
}

export interface ConversationRoom {
  readonly conversation: Conversation;
  readonly delivery: Delivery;
  readonly commands: Commands;
  readonly pairing: Pairing;
  readonly allowLists: AllowLists;
  readonly routing: Routing;
  readonly channels: AppChannels;
  readonly activity: ReturnType<typeof createChannelActivity>;
  /** Sending on request, for methods and tools. */
  readonly messages: () => Promise<Messages>;
  /** Folders that files may be sent from. */
  readonly mediaRoots: (agentId: string | undefined) => readonly string[];
  /** Rejects when a file may not be handed to a channel. */
  readonly mediaReadable: (agentId: string | undefined, path: string) => Promise<void>;
}

/** Turns that are looked through for the last one of a model. */
const MOST_TURNS = 50;

/** The last turn of a session that a model was to answer. Commands of clients have turns of their own, without a prompt: they are not meant. */
async function lastTurn(store: ConversationRoomDeps["store"], sessionKey: string): Promise<string | undefined> {
  for (const { id, outcome } of await store.read("turns.ofSession", { sessionKey, limit: MOST_TURNS })) {
    if (outcome === "failed" || (await store.read("journal.steps", { turnId: id })).length > 0) return id;
  }
  return undefined;
}

/** How a message of a session was answered, in a few lines; one of another session is not told. */
function storyOf({ store, clock }: Pick<ConversationRoomDeps, "store" | "clock">): NonNullable<CommandDeps["why"]> {
  return async (sessionKey, id) => {
    const { createWhy, whyText } = await loadWhy();
    const turnId = id === undefined ? await lastTurn(store, sessionKey) : undefined;
    const what = id ?? turnId;
    if (what === undefined) return undefined;
    const [story] = await createWhy({ store, now: clock.now })
      .tell(what)
      .catch(() => []);
    return story && story.about.sessionKey === sessionKey ? whyText(story, { short: true }) : undefined;
  };
}

/** Who was let in, and who asks. */
function openAccess(deps: ConversationRoomDeps, log: Logger): Pick<ConversationRoom, "allowLists" | "pairing"> {
  const { store, clock, ids, random, config } = deps;
  const folder = oauthFolder({ env: deps.env, exists: existsSync, osHome: homedir(), cwd: process.cwd() });
  const allowLists = createAllowLists({ store, files: { folder, cfg: config.current, clock, ids, problem: (text) => log.warn(text) } });
  return { allowLists, pairing: createPairing({ store, clock, random, ids, lists: allowLists }) };
}

/** Puts conversations together. Commands, delivery and what fetches files are loaded when they are needed. */
export function openConversation(deps: ConversationRoomDeps, stack: AsyncDisposableStack): ConversationRoom {
  const { config, store, clock, ids, random, plugins } = deps;
  const log = deps.log.subsystem("conversation");
  const base = { store, clock, ids, random, hooks: currentHooks(plugins), internalHooks: () => plugins.agent()?.internalHooks };
  const channels = channelTable(plugins);
  const routing = createRouting();
  const activity = createChannelActivity(clock);
  const { allowLists, pairing } = openAccess(deps, log);
  const mediaRoots = (agentId: string | undefined): readonly string[] => [
    deps.workspaceOf(agentId ?? deps.defaultAgentId()),
    join(config.paths.state, "media"),
  ];
  const mediaReadable = async (agentId: string | undefined, path: string): Promise<void> => {
    if (/^https?:/i.test(path)) return;
    const { fileAccess } = await deps.agent();
    const id = agentId ?? deps.defaultAgentId();
    await fileAccess.mayRead({ agentId: id, workspaceDir: deps.workspaceOf(id) }, path, { sealedOnly: agentId === undefined });
  };
  const delivery = stack.use(
    lazyDelivery(async () =>
      (await loadDelivery()).createDelivery({
        ...base,
        log: deps.log.subsystem("delivery"),
        config: () => config.current,
        table: channels,
        activity,
        mediaRoots,
        mediaReadable,
        redact: deps.redactor.secrets,
      }),
    ),
  );
  const commands = lazyCommands({ config: () => config.current, redact: (text) => deps.runnable(deps.redactor.secrets(text)) }, async () => {
    const [{ createCommands }, { commandPorts }] = await Promise.all([loadCommands(), import("./command-ports.ts")]);
    const killProcesses = async (sessionKey: string): Promise<number> => (await deps.agent()).killProcesses(sessionKey);
    const all: CommandDeps = { ...deps, conversation: () => conversation, pairing, channels, killProcesses, why: storyOf(deps) };
    return createCommands(commandPorts(all, ownCaller(deps.handlers, "command")));
  });
  const conversation: Conversation = stack.use(
    createConversation({
      ...base,
      log,
      config,
      agents: deps.agents,
      routing,
      channels,
      pairing,
      allowLists,
      delivery,
      commands,
      keepMedia: async (...args) => (await import("./keep-media.ts")).mediaKeeper({ config, ids, channels })(...args),
      mediaRoots,
      redact: deps.redactor.text,
      runnable: deps.runnable,
      defaultAgentId: deps.defaultAgentId,
      untilPlugins: plugins.settled,
    }),
  );
  return {
    conversation,
    delivery,
    commands,
    pairing,
    allowLists,
    routing,
    channels,
    activity,
    mediaRoots,
    mediaReadable,
    messages: lazy(async () => (await loadDelivery()).createMessages({ delivery, channels, config: () => config.current, log })),
  };
}
