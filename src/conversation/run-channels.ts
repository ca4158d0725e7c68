import { messageOf } from "../../base/errors.ts";
import { createChannels, type Channels, type Misconfiguration } from "../../channels/index.ts";
import { isTruthy, type Config, type LocatedIssue, type ReloadAction } from "../../config/index.ts";
import type { OpenGatewayDeps } from "../open-gateway.ts";
import type { Plugins } from "../plugins/index.ts";
import type { ConversationRoom } from "./open.ts";
import type { Logger } from "../../base/log/logger.ts";

/** Holds the sections of channels against the schemas of the plugins that run, in the background. */
interface SectionCheck extends Disposable {
  /** Plugins came, went or were loaded anew. */
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
  readonly plugins: Pick<Plugins, "sections">;
  readonly log: Logger;
}): SectionCheck {
  let told = new Set<string>();
  const wrong = (): readonly LocatedIssue[] => config.snapshot().warnings.filter(({ path }) => isIn("channels", path));

  /** Every one is logged once for as long as it stands. */
  function tell(): void {
    const found = wrong().map(({ path, message, file, line }) => ({ key: `${path}\0${message}`, text: `${path}: ${message} (${file}:${line})` }));
    for (const { key, text } of found) if (!told.has(key)) log.warn(`a channel is misconfigured: ${text}`);
    told = new Set(found.map(({ key }) => key));
  }

  async function look(): Promise<void> {
    const sections = await plugins.sections();
    if (!sections) return;
    config.extend(sections);
    tell();
  }

  const listening = config.onEvent((event) => {
    if (event.kind !== "invalid") tell();
  });
  return {
    look: () => void look().catch((error: unknown) => log.warn(`the settings of channels could not be checked: ${messageOf(error)}`, { error })),
    wrongIn: (channel) =>
      wrong()
        .filter(({ path }) => isIn(`channels.${channel}`, path))
        .map(({ path, message, file, line }) => ({ path, message, fix: `Change it in line ${line} of ${file}.` })),
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}

/** The channels of a gateway, from its start to its end. */
export interface AppChannelsRun {
  readonly channels: Channels;
  /** Everything is in place: accounts are started, what was left unsent is sent. */
  start(): Promise<void>;
  /** Settings of a channel changed. */
  reload(action: ReloadAction): Promise<void>;
}

export function openChannels(deps: OpenGatewayDeps & { readonly plugins: Plugins }, talk: ConversationRoom, stack: AsyncDisposableStack): AppChannelsRun {
  const { config, clock, random, plugins, env } = deps;
  const log = deps.log.subsystem("channels");
  const skipped = isTruthy(env["OPENCLAW_SKIP_CHANNELS"]);
  let started = false;
  const registered = new Set<string>();
  const sections = stack.use(createSectionCheck({ config, plugins, log }));
  const channels = stack.use(
    createChannels({
      config: () => config.current,
      table: talk.channels,
      inbound: talk.conversation.inbound,
      clock,
      random,
      log,
      redactor: deps.redactor,
      activity: talk.activity,
      misconfigured: sections.wrongIn,
      onChange({ channel, accountId, state }) {
        if (state !== "ok") {
          registered.delete(`${channel}\0${accountId}`);
          return;
        }
        // What could not be sent while it was away goes out now.
        talk.delivery.kick();
        offerCommands(channel, accountId);
      },
    }),
  );

  talk.channels.follow(channels);

  /** Puts the commands into the platform's menu, once for each time the account comes up. */
  function offerCommands(channel: string, accountId: string): void {
    const adapter = talk.channels.get(channel)?.nativeCommands;
    const key = `${channel}\0${accountId}`;
    if (!adapter || registered.has(key)) return;
    registered.add(key);
    const { agentId } = talk.routing.resolveRoute({ config: config.current, channel, accountId });
    talk.commands
      .native(agentId, channel)
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
      if (skipped) return log.warn("OPENCLAW_SKIP_CHANNELS is set: no channel is started");
      started = true;
      if (talk.channels.list().length === 0) return;
      sections.look();
      await channels.start();
    },
    async reload(action) {
      if (action.kind === "restart" && action.id !== undefined) await channels.reload([`channels.${action.id}`]);
    },
  };
}
