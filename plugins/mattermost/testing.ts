/** The channel against a fake server, without a gateway. */
import { runChannelAccount, type RunningAccount, type RunningAccountOptions } from "openclaw/plugin-sdk/testing";
import { startMattermost, type Channel, type FakeMattermost, type User } from "../../test/fakes/mattermost/index.ts";
import { instantWaiting, openMapStore } from "../../test/harness/channel-parts.ts";
import { createMattermostPlugin, type MattermostChannel } from "./channel.ts";

export interface Bench extends AsyncDisposable {
  readonly chat: FakeMattermost;
  readonly anna: User;
  readonly direct: Channel;
  readonly group: Channel;
  readonly channel: MattermostChannel;
  readonly delays: number[];
  /** What the plugin stores. */
  readonly stored: Map<string, unknown>;
  cfg(more?: Record<string, unknown>): RunningAccountOptions["cfg"];
  /** Starts the account and waits until it is connected. */
  run(more?: Record<string, unknown>, accept?: RunningAccountOptions["accept"]): Promise<RunningAccount>;
}

export async function openBench(): Promise<Bench> {
  const chat = await startMattermost();
  const anna = chat.person({ username: "anna", first_name: "Anna" });
  const stored = new Map<string, unknown>();
  const delays: number[] = [];
  const channel = createMattermostPlugin({
    openStore: openMapStore(stored),
    waiting: instantWaiting(delays),
  });
  const cfg: Bench["cfg"] = (more = {}) => ({ channels: { mattermost: { baseUrl: chat.url, botToken: chat.token, ...more } } });
  return {
    chat,
    anna,
    direct: chat.direct(anna),
    group: chat.channel({ name: "town-square", members: [anna] }),
    channel,
    delays,
    stored,
    cfg,
    async run(more, accept) {
      const account = runChannelAccount(channel, { cfg: cfg(more), ...(accept ? { accept } : {}) });
      await account.shows(({ connected }) => connected === true);
      return account;
    },
    async [Symbol.asyncDispose]() {
      channel[Symbol.dispose]();
      await chat[Symbol.asyncDispose]();
    },
  };
}
