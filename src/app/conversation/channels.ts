import { messageOf } from "../../base/errors.ts";
import { createChannels, type Channels } from "../../channels/index.ts";
import { isTruthy, type ReloadAction } from "../../config/index.ts";
import type { OpenGatewayDeps } from "../open-gateway.ts";
import type { Plugins } from "../plugins/index.ts";
import { createSectionCheck } from "./section-check.ts";
import type { ConversationRoom } from "./open.ts";

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
  const log = deps.log.room("channels");
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
