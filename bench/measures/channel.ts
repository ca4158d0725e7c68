import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { loadRichText } from "../../src/channels/index.ts";
import { createRouting } from "../../src/routing/index.ts";
import { makeAgentPlace, startModel, type BenchModel } from "../drivers/agent-place.ts";
import { startBotApi, type BotApi } from "../drivers/bot-api.ts";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";

const load = (): number => round(loadavg()[0] ?? 0);

/** A gateway with one Telegram account, and how late its event loop is. */
async function telegramPlace(context: BenchContext, name: string, model: BenchModel, bot: BotApi) {
  const loopFile = join(context.folder, `${name}-loop.json`);
  const place = await makeAgentPlace(context, name, model, {
    config: {
      channels: { telegram: { botToken: bot.token, dmPolicy: "open", allowFrom: ["*"] } },
      session: { dmScope: "per-channel-peer" },
    },
    env: {
      OPENCLAW_TEST_TELEGRAM_API_ROOT: bot.apiRoot,
      BENCH_LOOP_FILE: loopFile,
      NODE_OPTIONS: `--import=${pathToFileURL(join(context.root, "bench/drivers/loop-delay.ts")).href}`,
    },
  });
  return {
    ...place,
    /** Of the time since this was last asked. */
    async lateness(pid: number): Promise<{ readonly p50: number; readonly p99: number; readonly max: number }> {
      rmSync(loopFile, { force: true });
      process.kill(pid, "SIGUSR2");
      while (!existsSync(loopFile)) await wait(5);
      return JSON.parse(readFileSync(loopFile, "utf8")) as { p50: number; p99: number; max: number };
    },
  };
}

/** One message after the other, from the moment it can be fetched to the request that sends its answer. */
async function throughOne(context: BenchContext, model: BenchModel, bot: BotApi): Promise<Row> {
  const [warm, blocks, size] = context.quick ? [2, 1, 3] : [60, 10, 20];
  const ask = async (chat: number): Promise<number> => {
    await bot.polled();
    const before = bot.sent.length;
    const at = bot.say([chat], "hello");
    await bot.sentTexts(before + 1);
    return bot.sent[before]!.at - at;
  };
  for (let i = 0; i < warm; i += 1) await ask(100 + (i % 10));
  const times: number[] = [];
  const bare: number[] = [];
  const over: number[] = [];
  for (let i = 0; i < blocks; i += 1) {
    const mine: number[] = [];
    for (let j = 0; j < size; j += 1) mine.push(await ask(200 + i));
    const request = await model.last();
    const calls: number[] = [];
    for (let j = 0; j < size; j += 1) calls.push((await model.bareCall(request)) + (await bot.bareCall()));
    times.push(...mine);
    bare.push(...calls);
    over.push(...mine.map((ms) => ms - median(calls)));
  }
  const facts = {
    "message ms": round(median(times)),
    "bare model and Bot API calls ms": round(median(bare)),
    "p95 over them ms": round(quantile(over, 0.95)),
    messages: times.length,
    "load average": load(),
  };
  return { name: "channel: message in to answer out, over two bare calls", value: round(median(over)), unit: "ms", bar: 12, better: "lower", facts };
}

function openRows(stateDir: string): { readonly messages: number; readonly open: number } {
  using db = new DatabaseSync(join(stateDir, "openclaw.db"), { readOnly: true, timeout: 5000 });
  return db.prepare("SELECT count(*) AS messages, sum(state <> 'settled') AS open FROM inbox WHERE channel = 'telegram'").get() as {
    messages: number;
    open: number;
  };
}

type TelegramPlace = Awaited<ReturnType<typeof telegramPlace>>;

/** Many people write in the same moment. */
async function manyAtOnce(context: BenchContext, place: TelegramPlace, pid: number, bot: BotApi): Promise<Row[]> {
  const people = context.quick ? 50 : 1000;
  await bot.polled();
  const chats = Array.from({ length: people }, (_, index) => 10_000 + index);
  const sentBefore = bot.sent.length;
  const { messages: before } = openRows(place.stateDir);
  await place.lateness(pid);
  const at = bot.say(chats, "hello");
  const acceptedMs = (await bot.confirmed()) - at;
  await bot.sentTexts(sentBefore + people);
  const answeredMs = performance.now() - at;
  const late = await place.lateness(pid);
  const answered = new Set(bot.sent.slice(sentBefore).map(({ chatId }) => chatId));
  const lost = chats.filter((chat) => !answered.has(String(chat))).length;
  const { messages } = openRows(place.stateDir);
  if (lost > 0 || messages - before !== people)
    throw new Error(`${lost} of ${people} chats have no answer, and ${messages - before} messages are in the inbox`);
  const facts = { people, lost, "all answered ms": round(answeredMs), "load average": load() };
  return [
    { name: "channel: 1000 conversations at once, all accepted", value: round(acceptedMs), unit: "ms", bar: 2000, better: "lower", facts },
    {
      name: "channel: 1000 conversations at once, loop delay p99",
      value: round(late.p99),
      unit: "ms",
      bar: 30,
      better: "lower",
      facts: { "p50 ms": round(late.p50), "max ms": round(late.max) },
    },
  ];
}

/** A long answer that is written while many watch. */
async function watched(context: BenchContext, model: BenchModel): Promise<Row> {
  const [watchers, chunks, rounds] = context.quick ? [5, 20, 1] : [200, 400, 5];
  const place = await makeAgentPlace(context, "channel-watched", model);
  await using _gateway = await place.start();
  const client = await connectBench(place.to);
  const others: BenchClient[] = [];
  while (others.length < watchers)
    others.push(...(await Promise.all(Array.from({ length: Math.min(20, watchers - others.length) }, () => connectBench(place.to)))));
  // They only read, as little as possible.
  for (const { socket } of others) socket.removeAllListeners("message");
  const ours: number[] = [];
  const own: number[] = [];
  let deltas = 0;
  await client.turn("agent:main:bench-watched-warm", `@chunks=${chunks} @gap=1`);
  for (let i = 0; i < rounds; i += 1) {
    const turn = await client.turn(`agent:main:bench-watched-${i}`, `@chunks=${chunks} @gap=5`);
    ours.push(turn.ms);
    ({ deltas } = turn);
    own.push(await model.bareCall(await model.last()));
  }
  for (const one of [client, ...others]) one.close();
  const facts = {
    watchers,
    chunks,
    "turn ms": round(median(ours)),
    "the model's own time ms": round(median(own)),
    "events of the last": deltas,
    "load average": load(),
  };
  return {
    name: "channel: 400 pieces with 200 watching / the model's own time",
    value: round(median(ours.map((ms, i) => ms / own[i]!)), 3),
    unit: "×",
    bar: 1.05,
    better: "lower",
    facts,
  };
}

const PARAGRAPH = `## A heading with *stress*

Some **bold words**, a [link](https://example.com/a?b=1&c=2), \`code\`, ~~gone~~ and <b>no tag</b> & more. Names like a_b_c stay as they are.

- one point
- another **point** with ||a secret||
  1. numbered

\`\`\`ts
const answer = (x: number): number => x < 42 && x > 0 ? x : 42;
\`\`\`

> quoted words, on one line

| name | value |
| --- | --- |
| first | 1 |

`;

async function markdown(context: BenchContext): Promise<Row> {
  const { parseMarkdown, toTelegramHtml } = await loadRichText();
  const text = PARAGRAPH.repeat(Math.ceil(8192 / PARAGRAPH.length)).slice(0, 8192);
  const times: number[] = [];
  const first = performance.now();
  let chars = toTelegramHtml(parseMarkdown(text)).length;
  const firstMs = performance.now() - first;
  for (let i = 0; i < (context.quick ? 5 : 200); i += 1) {
    const started = performance.now();
    chars = toTelegramHtml(parseMarkdown(text)).length;
    times.push(performance.now() - started);
  }
  const facts = { "first ms": round(firstMs), "p95 ms": round(quantile(times, 0.95)), "characters of HTML": chars };
  return { name: "channel: 8 KB of Markdown to Telegram's HTML", value: round(median(times), 3), unit: "ms", bar: 3, better: "lower", facts };
}

function routes(context: BenchContext): Row {
  const BINDINGS = 2000;
  const agents = Array.from({ length: 20 }, (_, index) => ({ id: `agent-${index}` }));
  const bindings = Array.from({ length: BINDINGS }, (_, index) => ({
    agentId: `agent-${index % agents.length}`,
    match: { channel: "telegram", ...(index % 3 === 0 ? { accountId: `account-${index % 50}` } : {}), peer: { kind: "group", id: String(-index) } },
  }));
  const config = { agents: { list: agents }, bindings } as never;
  const routing = createRouting();
  const [rounds, calls] = context.quick ? [3, 200] : [15, 20_000];
  const each: number[] = [];
  let matched = 0;
  for (let i = 0; i <= rounds; i += 1) {
    const started = performance.now();
    for (let j = 0; j < calls; j += 1) {
      const id = String(-((j * 7) % (2 * BINDINGS)));
      const route = routing.resolveRoute({ config, channel: "telegram", accountId: "default", peer: { kind: "group", id } });
      if (route.binding) matched += 1;
    }
    // The first round reads the bindings and is compiled.
    if (i > 0) each.push(((performance.now() - started) * 1e6) / calls);
  }
  const facts = { bindings: BINDINGS, "matched of 100": Math.round((matched * 100) / ((rounds + 1) * calls)) };
  return { name: "channel: a route among 2000 bindings", value: round(median(each), 0), unit: "ns", bar: 20_000, better: "lower", facts };
}

const blocker = (ms: number): string => `export default {
  register(api) {
    api.on("before_prompt_build", async (event, ctx) => {
      if (String(ctx.sessionKey).includes("blocked")) await new Promise((resolve) => setTimeout(resolve, ${ms}));
    });
  },
};
`;

/** A plugin's handler that takes ten seconds holds up its own session and nobody else's. */
async function blockedHook(context: BenchContext, model: BenchModel): Promise<Row> {
  const place = await makeAgentPlace(context, "channel-hook", model, {
    config: { plugins: { allow: ["bench-blocker"], entries: { "bench-blocker": { enabled: true } } } },
  });
  const folder = join(place.stateDir, "extensions", "bench-blocker");
  mkdirSync(folder, { recursive: true });
  const manifest = { id: "bench-blocker", configSchema: { type: "object", properties: {} } };
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify(manifest));
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "bench-blocker", version: "1.0.0", type: "module", openclaw: { extensions: ["./index.js"] } }),
  );
  writeFileSync(join(folder, "index.js"), blocker(context.quick ? 1000 : 10_000));
  await using _gateway = await place.start();
  const client = await connectBench(place.to);
  const [warm, rounds, size] = context.quick ? [2, 1, 3] : [60, 3, 40];
  const some = async (count: number): Promise<number[]> => {
    const times: number[] = [];
    for (let i = 0; i < count; i += 1) times.push((await client.turn("agent:main:bench-free", "hello")).ms);
    return times;
  };
  await some(warm);
  const calm: number[] = [];
  const held: number[] = [];
  const blockedMs: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    calm.push(...(await some(size)));
    let isHeld = true;
    const blocked = client.turn(`agent:main:bench-blocked-${i}`, "hello").then(({ ms }) => {
      isHeld = false;
      blockedMs.push(ms);
    });
    await wait(50);
    const during = await some(size);
    if (isHeld || context.quick) held.push(...during);
    else throw new Error("the handler did not hold its session up, or the others took longer than it");
    await blocked;
  }
  client.close();
  const facts = {
    "before ms": round(median(calm)),
    "while one is held ms": round(median(held)),
    "the held turn ms": round(median(blockedMs)),
    "load average": load(),
  };
  return {
    name: "channel: turns beside a hook that takes 10 s / without it",
    value: round(median(held) / median(calm)),
    unit: "×",
    bar: 1.15,
    better: "lower",
    facts,
  };
}

/** From a platform to a model and back, by a real gateway with its durable store. */
export const channel: Measure = {
  name: "channel",
  async run(context): Promise<readonly Row[]> {
    await context.loadStore();
    using model = await startModel(context);
    const rows: Row[] = [];
    {
      await using bot = await startBotApi();
      const place = await telegramPlace(context, "channel", model, bot);
      await using gateway = await place.start();
      rows.push(await throughOne(context, model, bot), ...(await manyAtOnce(context, place, gateway.pid, bot)));
    }
    rows.push(await watched(context, model), await markdown(context), routes(context), await blockedHook(context, model));
    return rows;
  },
};
