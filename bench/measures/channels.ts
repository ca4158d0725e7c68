/** Every channel against its fake: one message after the other, a crowd at once, and what channels cost that are only configured. */
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Asked } from "../../src/plugin-testing/index.ts";
import { LABS } from "../../test/conformance/channels/labs.ts";
import { startLabGateway, type LabGateway } from "../../test/conformance/channels/lab-gateway.ts";
import type { ChannelLab } from "../../test/conformance/channels/lab.ts";
import { startDiscord } from "../../test/fakes/discord/index.ts";
import { startSlack } from "../../test/fakes/slack/index.ts";
import { allButOneOff } from "../../test/harness/configured-channels.ts";
import { until } from "../../test/harness/until.ts";
import { ACCOUNTS, accountRow } from "../drivers/channel-accounts.ts";
import { BARE_CHANNELS } from "../drivers/bare-channels.ts";
import { makeBenchPlace } from "../drivers/gateway-process.ts";
import { residentMb } from "../drivers/process-facts.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";

const PATIENCE_MS = 60_000;

/** Waits without the steps of a timer. */
async function soon(isSo: () => boolean, what: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`${what} did not happen within ${PATIENCE_MS} ms`);
    await turn();
  }
}

/** One that polls, one with a socket: the others are measured in the same way. */
const QUICK_LABS = ["telegram", "mattermost"];

async function exchange(lab: ChannelLab, word: string): Promise<number> {
  const started = performance.now();
  await lab.say(`and ${word}?`);
  await soon(() => lab.received().some(({ text }) => text.includes(word)), `an answer to ${word} over ${lab.channel}`);
  return performance.now() - started;
}

/** The same exchange with a client of the channel's library alone; nothing where the platform is reached over HTTP. */
async function bareExchanges(context: BenchContext, id: string, warm: number, size: number): Promise<readonly number[]> {
  const open = BARE_CHANNELS[id];
  if (!open) return [];
  await using bare = await open(context);
  const took: number[] = [];
  for (let i = 0; i < warm + size; i += 1) {
    const word = `w-word${i}end`;
    const started = performance.now();
    await bare.say(`and ${word}?`);
    await soon(() => bare.received().some((text) => text.includes(word)), `an answer to ${word} of the bare client of ${id}`);
    if (i >= warm) took.push(performance.now() - started);
  }
  return took;
}

/** A request that waits for news is no round trip of an answer. */
const isPoll = ({ path, method }: Asked): boolean => /\/(?:getUpdates|events)$/.test(path) || (method === "GET" && path.endsWith("/receive"));

/** How long the platform takes for the same requests when a client does nothing but make them, one after the other over one connection. */
async function bareTrips(server: NonNullable<ChannelLab["server"]>, calls: readonly Asked[], agent: Agent): Promise<number> {
  const started = performance.now();
  for (const { method, path, query, headers, body } of calls) {
    const { connection: _connection, host: _host, "transfer-encoding": _encoding, ...kept } = headers;
    const search = query.size > 0 ? `?${query.toString()}` : "";
    const asked = request(`${server.url}${path}${search}`, { method, agent, headers: { ...kept, "content-length": body.length } });
    asked.end(body);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    for await (const _chunk of response);
  }
  return performance.now() - started;
}

/** What the gateway asked of the platform for one answer. */
async function tripsOf(lab: ChannelLab, before: number, agent: Agent): Promise<{ readonly ms: number; readonly calls: number } | undefined> {
  if (!lab.server) return undefined;
  const calls = lab.server.asked.slice(before).filter((asked) => !isPoll(asked));
  return { ms: await bareTrips(lab.server, calls, agent), calls: calls.length };
}

/**
 * From what a person does to what they see, above what the platform itself takes: for the same requests, which a bare client makes right after, or, where it is
 * not reached over HTTP, for the same exchange with a bare client of the same library.
 */
async function through(context: BenchContext, id: string): Promise<Row> {
  // A person may write thirty messages at once.
  const [labs, warm, size] = context.quick ? [1, 1, 2] : [3, 8, 18];
  const { make } = await LABS[id]!();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const [took, trips, calls]: [number[], number[], number[]] = [[], [], []];
  for (let n = 0; n < labs; n += 1) {
    await using lab = await make({});
    for (let i = 0; i < warm + size; i += 1) {
      const before = lab.server?.asked.length ?? 0;
      const ms = await exchange(lab, `w-word${i}end`);
      const own = await tripsOf(lab, before, agent);
      if (i < warm) continue;
      took.push(ms);
      if (own) trips.push(own.ms);
      calls.push(own?.calls ?? 0);
    }
    trips.push(...(await bareExchanges(context, id, warm, size)));
  }
  agent.destroy();
  const value = round(median(took) - (trips.length > 0 ? median(trips) : 0));
  const facts = {
    "whole ms": round(median(took)),
    "round trips ms": trips.length > 0 ? round(median(trips)) : 0,
    "requests each": median(calls),
    "p95 whole ms": round(quantile(took, 0.95)),
    messages: took.length,
  };
  return { name: `channels: ${id}, message to answer, above its round trips`, value, unit: "ms", bar: 12, better: "lower", facts };
}

function accepted(gateway: LabGateway, channel: string): number {
  using db = new DatabaseSync(join(gateway.place.stateDir, "openclaw.db"), { readOnly: true, timeout: 5000 });
  return Number(db.prepare("SELECT count(*) AS n FROM inbox WHERE channel = ?").get(channel)?.["n"]);
}

/** People who write at once, and what each of them got. */
interface Crowd extends AsyncDisposable {
  readonly channel: string;
  readonly section: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  isUp(): boolean;
  say(people: number): void;
  answered(): number;
}

async function discordCrowd(): Promise<Crowd> {
  const discord = await startDiscord();
  const { world } = discord;
  const chats: ReturnType<typeof world.direct>[] = [];
  return {
    channel: "discord",
    section: { token: discord.token },
    env: { OPENCLAW_TEST_DISCORD_API_ROOT: discord.apiRoot },
    isUp: () => discord.gateway.live > 0,
    say(people) {
      const all = Array.from({ length: people }, (_, n) => world.person({ username: `person_${n}` }));
      chats.push(...all.map((person) => world.direct(person)));
      all.forEach((from, n) => discord.say("hello", { from, channel: chats[n]! }));
    },
    answered: () => chats.filter((channel) => discord.messages(channel).some(({ author }) => author.id === world.bot.id)).length,
    [Symbol.asyncDispose]: () => discord[Symbol.asyncDispose](),
  };
}

async function slackCrowd(): Promise<Crowd> {
  const slack = await startSlack();
  const { world, people: actors } = slack;
  const chats: string[] = [];
  return {
    channel: "slack",
    section: { botToken: slack.botToken, appToken: slack.appToken },
    env: { OPENCLAW_TEST_SLACK_API_ROOT: slack.apiRoot },
    isUp: () => slack.delivery.open > 0,
    say(people) {
      const all = Array.from({ length: people }, (_, n) => world.person(`person_${n}`));
      chats.push(...all.map(({ id }) => world.direct(id).id));
      all.forEach((by, n) => void actors.say("hello", { by, channel: chats[n]! }));
    },
    answered: () => chats.filter((channel) => world.messages(channel).some(({ botId }) => botId === world.bot.botId)).length,
    [Symbol.asyncDispose]: () => slack[Symbol.asyncDispose](),
  };
}

async function crowdRows(context: BenchContext, open: () => Promise<Crowd>): Promise<readonly Row[]> {
  const people = context.quick ? 20 : 1000;
  await using crowd = await open();
  const { channel } = crowd;
  const loopFile = join(context.folder, `${channel}-crowd-loop.json`);
  const section = { enabled: true, dmPolicy: "open", allowFrom: ["*"], ackReaction: "", ...crowd.section };
  await using gateway = await startLabGateway({
    sections: { channels: { [channel]: section }, session: { dmScope: "per-channel-peer" } },
    env: { ...crowd.env, BENCH_LOOP_FILE: loopFile, NODE_OPTIONS: `--import=${pathToFileURL(join(context.root, "bench/drivers/loop-delay.ts")).href}` },
  });
  await until(
    () => crowd.isUp(),
    () => `${channel} does not connect\n${gateway.output()}`,
  );
  const lateness = async (): Promise<{ readonly p99: number; readonly max: number }> => {
    rmSync(loopFile, { force: true });
    process.kill(gateway.pid, "SIGUSR2");
    while (!existsSync(loopFile)) await wait(5);
    return JSON.parse(readFileSync(loopFile, "utf8")) as { p99: number; max: number };
  };
  await lateness();
  const started = performance.now();
  crowd.say(people);
  while (accepted(gateway, channel) < people) {
    if (performance.now() - started > PATIENCE_MS) throw new Error(`${accepted(gateway, channel)} of ${people} messages over ${channel} were accepted`);
    await wait(10);
  }
  const acceptedMs = performance.now() - started;
  await until(
    () => crowd.answered() === people,
    () => `${crowd.answered()} of ${people} people have an answer over ${channel}\n${gateway.output().slice(-2000)}`,
    PATIENCE_MS,
  );
  const answeredMs = performance.now() - started;
  const late = await lateness();
  const facts = { people, "all answered ms": round(answeredMs) };
  return [
    { name: `channels: 1000 conversations at once over ${channel}, all accepted`, value: round(acceptedMs), unit: "ms", bar: 3000, better: "lower", facts },
    {
      name: `channels: 1000 conversations at once over ${channel}, loop delay p99`,
      value: round(late.p99, 1),
      unit: "ms",
      bar: 30,
      better: "lower",
      facts: { "max ms": round(late.max, 1) },
    },
  ];
}

/** A gateway with all channels in its configuration, one of them enabled, and one with that one alone. */
async function startRows(context: BenchContext): Promise<readonly Row[]> {
  const rounds = context.quick ? 1 : 11;
  const all = allButOneOff("irc");
  const one = { irc: all["irc"] };
  const places = {
    one: await makeBenchPlace(context, "channels-one", { config: { channels: one } }),
    all: await makeBenchPlace(context, "channels-all", { config: { channels: all } }),
  };
  const measured = { one: { ms: [] as number[], mb: [] as number[] }, all: { ms: [] as number[], mb: [] as number[] } };
  for (const place of Object.values(places)) await (await place.start())[Symbol.asyncDispose]();
  for (let n = 0; n < rounds; n += 1) {
    for (const which of ["one", "all"] as const) {
      await using gateway = await places[which].start();
      measured[which].ms.push(gateway.ready.readyMs);
      await wait(context.quick ? 100 : 1500);
      measured[which].mb.push(residentMb(gateway.pid));
    }
  }
  const { one: few, all: many } = measured;
  const facts = { channels: Object.keys(all).length };
  const value = (key: "ms" | "mb"): number => round(median(many[key]) - median(few[key]), 1);
  return [
    {
      name: "channels: start with all configured and one enabled, over that one",
      value: value("ms"),
      unit: "ms",
      bar: 10,
      better: "lower",
      facts: { ...facts, "one ms": round(median(few.ms), 1) },
    },
    {
      name: "channels: memory with all configured and one enabled, over that one",
      value: value("mb"),
      unit: "MB",
      bar: 3,
      better: "lower",
      facts: { ...facts, "one MB": round(median(few.mb), 1) },
    },
  ];
}

export const channels: Measure = {
  name: "channels",
  async run(context): Promise<readonly Row[]> {
    const rows: Row[] = [];
    for (const id of context.quick ? QUICK_LABS : Object.keys(LABS)) rows.push(await through(context, id));
    for (const open of [discordCrowd, slackCrowd]) rows.push(...(await crowdRows(context, open)));
    rows.push(...(await startRows(context)));
    for (const id of context.quick ? ["mattermost"] : Object.keys(ACCOUNTS)) rows.push(await accountRow(context, id));
    return rows;
  },
};
