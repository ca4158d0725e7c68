/** Many accounts of one channel at once, for what each of them takes. */
import { setTimeout as wait } from "node:timers/promises";
import { startLabGateway } from "../../test/conformance/channels/lab-gateway.ts";
import { startDiscord } from "../../test/fakes/discord/index.ts";
import { startMattermost } from "../../test/fakes/mattermost/index.ts";
import { startSignal } from "../../test/fakes/signal/index.ts";
import { startSlack } from "../../test/fakes/slack/index.ts";
import { startTelegram } from "../../test/fakes/telegram/index.ts";
import { until } from "../../test/harness/until.ts";
import type { BenchContext, Row } from "../row.ts";
import { round } from "../stats.ts";
import { residentMb } from "./process-facts.ts";

interface Platform extends AsyncDisposable {
  /** One for each account. */
  readonly sections: readonly Readonly<Record<string, unknown>>[];
  /** Of the channel. */
  readonly common: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  /** Accounts that are connected right now. */
  connected(): number;
}

interface Accounts {
  readonly label: string;
  /** Accounts to measure with. */
  readonly most: number;
  open(count: number): Promise<Platform>;
}

const MOST = 11;
/** Slack allows an app ten connections. */
const MOST_OF_SLACK = 9;

/** A server for each account. */
async function separate<S extends AsyncDisposable>(
  count: number,
  start: () => Promise<S>,
  sectionOf: (server: S) => Record<string, unknown>,
  isConnected: (server: S) => boolean,
): Promise<Platform> {
  const servers = await Promise.all(Array.from({ length: count }, start));
  return {
    sections: servers.map(sectionOf),
    common: {},
    env: {},
    connected: () => servers.filter(isConnected).length,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

/** One server, and the same bot for every account: its address cannot be set for a single one. */
function together(count: number, server: AsyncDisposable, parts: Pick<Platform, "common" | "env" | "connected">): Platform {
  return { sections: Array.from({ length: count }, () => ({})), ...parts, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

export const ACCOUNTS: Readonly<Record<string, Accounts>> = {
  mattermost: {
    label: "Mattermost",
    most: MOST,
    open: (count) =>
      separate(
        count,
        startMattermost,
        ({ url, token }) => ({ baseUrl: url, botToken: token }),
        ({ server }) => server.sockets.length > 0,
      ),
  },
  telegram: {
    label: "Telegram",
    most: MOST,
    open: (count) =>
      separate(
        count,
        startTelegram,
        ({ token, apiRoot }) => ({ botToken: token, apiRoot }),
        ({ polling }) => polling,
      ),
  },
  signal: {
    label: "Signal",
    most: MOST,
    open: (count) =>
      separate(
        count,
        () => startSignal(),
        ({ url, world }) => ({ httpUrl: url, account: world.me.number }),
        (signal) => signal.listeners() > 0,
      ),
  },
  discord: {
    label: "Discord",
    most: MOST,
    async open(count) {
      const discord = await startDiscord();
      const env = { OPENCLAW_TEST_DISCORD_API_ROOT: discord.apiRoot };
      return together(count, discord, { common: { token: discord.token }, env, connected: () => discord.gateway.live });
    },
  },
  slack: {
    label: "Slack",
    most: MOST_OF_SLACK,
    async open(count) {
      const slack = await startSlack();
      const env = { OPENCLAW_TEST_SLACK_API_ROOT: slack.apiRoot };
      return together(count, slack, { common: { botToken: slack.botToken, appToken: slack.appToken }, env, connected: () => slack.delivery.open });
    },
  },
};

/** What each further account of a channel takes. */
export async function accountRow(context: BenchContext, id: string): Promise<Row> {
  const { label, most, open } = ACCOUNTS[id]!;
  const count = context.quick ? 2 : most;
  await using platform = await open(count);
  const memoryOf = async (accounts: number): Promise<number> => {
    const named = platform.sections.slice(0, accounts).map((section, n) => [`a${n}`, { enabled: true, ...section }] as const);
    await using gateway = await startLabGateway({
      sections: { channels: { [id]: { enabled: true, ...platform.common, accounts: Object.fromEntries(named) } } },
      env: platform.env,
    });
    await until(
      () => platform.connected() === accounts,
      () => `${platform.connected()} of ${accounts} accounts of ${id} are connected\n${gateway.output()}`,
    );
    await wait(context.quick ? 100 : 4000);
    return residentMb(gateway.pid);
  };
  const [one, many] = [await memoryOf(1), await memoryOf(count)];
  const facts = { accounts: count, "one MB": round(one, 1), "all MB": round(many, 1) };
  const value = round((many - one) / (count - 1));
  return { name: `channels: memory of a further account (${label})`, value, unit: "MB", bar: 2, better: "lower", facts };
}
