import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import type { Redactor } from "../base/redaction.ts";
import { createChannels, type Channels, type createChannelActivity, type Misconfiguration } from "../channels/index.ts";
import { isTruthy, type Config, type ConfigSections, type Env, type LocatedIssue, type ReloadAction } from "../config/index.ts";
import type { ChannelDock, ChannelPlugin } from "../protocol/index.ts";
import type { Routing } from "../routing/index.ts";
import type { Commands } from "./commands/commands.ts";
import type { Conversation } from "./create-conversation.ts";
import type { Delivery } from "./delivery/delivery.ts";
import type { Logger } from "../base/log/logger.ts";

/** Checks the sections of channels against the schemas of the plugins that run, in the background. */
interface SectionCheck extends Disposable {
  /** Plugins came, went or were reloaded. */
  look(): void;
  /** What is wrong with a channel's section as it is now. */
  wrongIn(channel: string): readonly Misconfiguration[];
}

const isIn = (section: string, path: string): boolean => path === section || path.startsWith(`${section}.`);

function createSectionCheck({
  config,
  plugins,
  log,
}: {
  readonly config: Config;
  readonly plugins: Pick<RunChannelsDeps["plugins"], "sections">;
  readonly log: Logger;
}): SectionCheck {
  let logged = new Set<string>();
  const wrong = (): readonly LocatedIssue[] => config.snapshot().warnings.filter(({ path }) => isIn("channels", path));

  /** Each is logged once for as long as it holds. */
  function logNew(): void {
    const found = wrong().map(({ path, message, file, line }) => ({ key: `${path}\0${message}`, text: `${path}: ${message} (${file}:${line})` }));
    for (const { key, text } of found) if (!logged.has(key)) log.warn(`a channel is misconfigured: ${text}`);
    logged = new Set(found.map(({ key }) => key));
  }

  async function look(): Promise<void> {
    const sections = await plugins.sections();
    if (!sections) return;
    config.extend(sections);
    logNew();
  }

  const listening = config.onEvent((event) => {
    if (event.kind !== "invalid") logNew();
  });
  return {
    look: () => void look().catch((error: unknown) => log.warn(`the settings of channels could not be checked: ${messageOf(error)}`, { error })),
    wrongIn: (channel) =>
      wrong()
        .filter(({ path }) => isIn(`channels.${channel}`, path))
        .map(({ path, message, file, line }) => ({ path, message, fix: `Change it on line ${line} of ${file}.` })),
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}

/** The channels whose plugins run at the moment. */
export interface ChannelTable {
  get(id: string): ChannelPlugin | undefined;
  list(): readonly ChannelPlugin[];
  dock(id: string): ChannelDock | undefined;
  /** Whether an account can send at the moment. */
  running(channel: string, accountId: string): boolean;
  /** False while it does not receive: what cannot be sent then waits longer. */
  receiving(channel: string, accountId: string): boolean;
  /** From now on these connections decide which account can send. */
  follow(connections: Pick<Channels, "canSend" | "isReceiving">): void;
}

export interface RunChannelsDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly env: Env;
  readonly log: Logger;
  readonly redactor: Redactor;
  readonly plugins: {
    /** What plugins that run say about their sections of the configuration; undefined while none do. */
    sections(): Promise<ConfigSections> | undefined;
    onChange(listener: () => void): void;
    /** Loads the plugin of a channel that has its first settings, where it came with the gateway and is enabled. */
    loadChannel(id: string): Promise<void>;
  };
  readonly table: ChannelTable;
  readonly activity: ReturnType<typeof createChannelActivity>;
  readonly routing: Routing;
  readonly conversation: Pick<Conversation, "inbound">;
  readonly delivery: Pick<Delivery, "kick">;
  readonly commands: Pick<Commands, "native">;
}

/** The channels of a gateway, from its start to its end. */
export interface RunningChannels {
  readonly channels: Channels;
  /** Everything is in place: accounts are started, what was left unsent is sent. */
  start(): Promise<void>;
  /** Whether accounts are still being started, or have not said yet that they are there: their webhooks may be missing. */
  isStarting(): boolean;
  /** Calls this when an account's health changed, except by time alone. */
  onHealth(listener: () => void): Disposable;
  /** Settings of a channel changed. */
  reload(action: ReloadAction): Promise<void>;
}

export function runChannels(deps: RunChannelsDeps, stack: AsyncDisposableStack): RunningChannels {
  const { config, clock, random, plugins, env, table, activity, routing, conversation, delivery, commands } = deps;
  const log = deps.log.subsystem("channels");
  const skipped = isTruthy(env["OPENCLAW_SKIP_CHANNELS"]);
  let started = false;
  let isOver = false;
  const registered = new Set<string>();
  const listeners = new Set<() => void>();
  const sections = stack.use(createSectionCheck({ config, plugins, log }));
  const channels = stack.use(
    createChannels({
      config: () => config.current,
      table,
      inbound: conversation.inbound,
      clock,
      random,
      log,
      redactor: deps.redactor,
      activity,
      misconfigured: sections.wrongIn,
      onChange({ channel, accountId, state }) {
        for (const listener of listeners) listener();
        if (state !== "ok") {
          registered.delete(`${channel}\0${accountId}`);
          return;
        }
        // Sends what waited while the account was away.
        delivery.kick();
        offerCommands(channel, accountId);
      },
    }),
  );

  table.follow(channels);

  /** Puts the commands into the platform's menu, once for each time the account comes up. */
  function offerCommands(channel: string, accountId: string): void {
    const adapter = table.get(channel)?.nativeCommands;
    const key = `${channel}\0${accountId}`;
    if (!adapter || registered.has(key)) return;
    registered.add(key);
    const { agentId } = routing.resolveRoute({ config: config.current, channel, accountId });
    commands
      .native(agentId, { channel, accountId })
      .then((commands) => adapter.register({ cfg: structuredClone(config.current), accountId, commands: [...commands], signal: AbortSignal.timeout(30_000) }))
      .catch((error: unknown) => log.warn(`commands could not be put into the menu of ${channel}: ${messageOf(error)}`, { channel, accountId }));
  }

  plugins.onChange(() => {
    if (!started) return;
    sections.look();
    channels.pluginsChanged().catch((error: unknown) => log.error(`channels could not follow their plugins: ${messageOf(error)}`, { error }));
  });

  return {
    channels,
    async start() {
      if (skipped) log.warn("OPENCLAW_SKIP_CHANNELS is set: no channels are started");
      else {
        started = true;
        if (table.list().length > 0) {
          sections.look();
          await channels.start();
        }
      }
      isOver = true;
    },
    isStarting: () => !isOver || channels.isStarting(),
    onHealth(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async reload(action) {
      if (action.kind !== "restart" || action.id === undefined) return;
      // Its accounts start with the change of plugins.
      if (!table.get(action.id)) return plugins.loadChannel(action.id);
      await channels.reload([`channels.${action.id}`]);
    },
  };
}
