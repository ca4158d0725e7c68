/** The channel against a fake platform, without a gateway. */
import type { ChannelInboundEvent } from "openclaw/plugin-sdk";
import { runChannelAccount, type RunningAccount, type RunningAccountOptions } from "openclaw/plugin-sdk/testing";
import { type FakeGoogleChat, type Space, startGoogleChat, type User } from "../../test/fakes/googlechat/index.ts";
import { createAccounts } from "./account.ts";
import { createApi } from "./api.ts";
import { createGoogleChatPlugin, type GoogleChatChannel } from "./channel.ts";
import { eventsIn } from "./inbound.ts";

export const PROJECT = "123456789012";

type HostConfig = RunningAccountOptions["cfg"];

export interface Bench extends AsyncDisposable {
  readonly chat: FakeGoogleChat;
  readonly anna: User;
  readonly direct: Space;
  readonly space: Space;
  readonly channel: GoogleChatChannel;
  readonly delays: number[];
  /** What the plugin stores. */
  readonly stored: Map<string, unknown>;
  /** Moves the clock of the platform and of the plugin. */
  step(ms: number): void;
  now(): number;
  cfg(more?: Record<string, unknown>): HostConfig;
  /** Starts the account and waits until it is connected. */
  run(more?: Record<string, unknown>): Promise<RunningAccount>;
  /** What an event of the platform is for the host. */
  read(body: unknown, more?: Record<string, unknown>): Promise<ChannelInboundEvent[]>;
  /** Lines of requests so far. */
  asked(): string[];
}

export async function openBench(): Promise<Bench> {
  const chat = await startGoogleChat();
  chat.google.setAudience("project-number", PROJECT);
  const anna = chat.person("Anna", "anna@example.com");
  const stored = new Map<string, unknown>();
  const delays: number[] = [];
  let offset = 0;
  const now = (): number => Date.now() + offset;
  const open = () =>
    createGoogleChatPlugin({
      apiRoot: chat.url,
      openStore: () => ({ lookup: async (key) => stored.get(key), register: async (key, value) => void stored.set(key, value) }),
      waiting: {
        now,
        random: () => 0.5,
        async sleep(ms, signal) {
          delays.push(ms);
          if (!signal.aborted) await new Promise((resolve) => void setImmediate(resolve));
        },
      },
    });
  const channel = open();
  const cfg: Bench["cfg"] = (more = {}) => ({
    channels: { googlechat: { serviceAccount: chat.google.serviceAccount, audienceType: "project-number", audience: PROJECT, ...more } },
  });
  return {
    chat,
    anna,
    direct: chat.direct(anna),
    space: chat.space("workshop", [anna]),
    channel,
    delays,
    stored,
    now,
    step(ms) {
      offset += ms;
      chat.step(ms);
    },
    cfg,
    async run(more) {
      const account = runChannelAccount(channel, { cfg: cfg(more) });
      await account.shows(({ connected }) => connected === true);
      return account;
    },
    async read(body, more) {
      const account = createAccounts().read(cfg(more));
      const api = createApi(account, { apiRoot: chat.url, now });
      try {
        return await eventsIn(body, { account, api, self: () => account.botUser });
      } finally {
        api.close();
      }
    },
    asked: () => chat.server.asked.map(({ method, path }) => `${method} ${decodeURIComponent(path)}`),
    async [Symbol.asyncDispose]() {
      channel[Symbol.dispose]();
      await chat[Symbol.asyncDispose]();
    },
  };
}
