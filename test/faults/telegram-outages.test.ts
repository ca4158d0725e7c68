/** Answers and outages of Telegram, of every kind and length: a real socket, a real store, and the test's own clock. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTelegramPlugin, type TelegramChannel } from "../../plugins/telegram/channel.ts";
import { manualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import { loadDelivery, type Delivery } from "../../src/conversation/index.ts";
import { openReplyStream } from "../../src/conversation/reply/index.ts";
import type { ReplyStream } from "../../src/conversation/reply/reply-stream.ts";
import { turnEnd } from "../../src/conversation/reply/stream.fixture.ts";
import { stateText } from "../../src/conversation/why/delivery-steps.ts";
import { createHooks } from "../../src/hooks/index.ts";
import type { ChannelPlugin } from "../../src/protocol/index.ts";
import { openStore, type OutboxRow, type Store } from "../../src/store/index.ts";
import type { Fault } from "../fakes/telegram/faults.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const MINUTE_MS = 60_000;
const ANSWER = "This is the whole answer, from its first word to its last.";
const SHOWN = "This is the whole answer, from";
const REPEAT = `(repeat?) ${ANSWER}`;

interface Outage {
  /** Undefined: no connections are taken. */
  readonly fault: Fault | undefined;
  /** What is seen of an answer that was sent during the outage, once that is over. */
  readonly seen: readonly string[];
  /** The answer is killed with the process that sends it. */
  readonly hangs?: true;
}

const OUTAGES: Readonly<Record<string, Outage>> = {
  "connections are refused": { fault: undefined, seen: [ANSWER] },
  "429 with a time to wait": { fault: { retryAfter: 41 }, seen: [ANSWER] },
  "connections are reset before anything happened": { fault: { drop: "before" }, seen: [REPEAT] },
  "connections are reset after it happened": { fault: { drop: "after" }, seen: [ANSWER, REPEAT] },
  "500": { fault: { status: 500, description: "Internal Server Error" }, seen: [REPEAT] },
  "502": { fault: { status: 502, description: "Bad Gateway" }, seen: [REPEAT] },
  "504": { fault: { status: 504, description: "Gateway Timeout" }, seen: [REPEAT] },
  "502 with a page": { fault: { status: 502, body: "<html><h1>Bad Gateway</h1></html>" }, seen: [REPEAT] },
  "200 with a page": { fault: { status: 200, body: "<html><h1>Welcome to the hotel's network</h1></html>" }, seen: [REPEAT] },
  "nothing answers, nothing happened": { fault: { silent: "before" }, seen: [REPEAT], hangs: true },
  "nothing answers, it happened": { fault: { silent: "after" }, seen: [ANSWER, REPEAT], hangs: true },
};

/** A gateway's delivery for one bot, as often as it is started. */
interface Place {
  readonly telegram: FakeTelegram;
  readonly delivery: Delivery;
  /** What shows an answer while it is written, as a turn has it. */
  stream(to: string): ReplyStream;
  /** The story of the row, as `openclaw why` has it. */
  story(row: OutboxRow): string;
  /** Ends the process and starts it again. `midway`: while something is being sent. */
  restart(midway: boolean): Promise<void>;
  pass(ms: number): Promise<void>;
  until(done: () => boolean | Promise<boolean>): Promise<void>;
  row(target: string): Promise<OutboxRow | undefined>;
}

let place: Place;
const stack = new AsyncDisposableStack();

/** The plugin, and how many calls of it are under way. */
function counted(plugin: TelegramChannel) {
  let calls = 0;
  const count = (work: unknown) =>
    typeof work !== "function"
      ? work
      : (...args: unknown[]) => {
          calls += 1;
          const answer: unknown = work(...args);
          return answer instanceof Promise ? answer.finally(() => (calls -= 1)) : ((calls -= 1), answer);
        };
  const outbound = Object.fromEntries(Object.entries(plugin.outbound!).map(([name, work]) => [name, count(work)]));
  return { plugin: { ...plugin, outbound } as unknown as ChannelPlugin, underWay: () => calls };
}

beforeAll(async () => {
  const telegram = stack.use(await startTelegram());
  const clock = manualClock();
  const folder = mkdtempSync(join(tmpdir(), "telegram-outages-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const { createDelivery } = await loadDelivery();
  const random = seededRandom(7);
  const own = stack.use(createTelegramPlugin({ apiRoot: telegram.apiRoot, waiting: { now: clock.now, sleep: async () => {}, random: () => 0 } }));
  const { plugin, underWay } = counted(own);
  const config = { channels: { telegram: { botToken: telegram.token } } };
  const ended = new Set<number>();
  let store: Store;
  let delivery: Delivery;
  async function start(): Promise<void> {
    store = await openStore({ stateDir: folder, clock });
    const hooks = createHooks({ clock, log: silentLogger });
    delivery = createDelivery({
      store,
      clock,
      random,
      ids: createIds(random),
      log: silentLogger,
      config: () => config,
      table: { get: () => plugin },
      hooks,
      limits: { attemptMs: 86_400_000 },
    });
    delivery.onSettled(({ id }) => ended.add(id));
    delivery.kick();
  }
  const turn = async (): Promise<void> => {
    await store.read("outbox.counts", {});
    await new Promise((resolve) => setImmediate(resolve));
  };
  async function stop(): Promise<void> {
    const stopping = delivery[Symbol.asyncDispose]();
    clock.advance(5000);
    await stopping;
    await store[Symbol.asyncDispose]();
  }
  await start();
  stack.defer(stop);
  place = {
    telegram,
    get delivery() {
      return delivery;
    },
    stream: (to) =>
      openReplyStream({
        plugin,
        address: { channel: "telegram", accountId: "default", to, chatType: "direct" },
        cfg: config,
        agentId: "main",
        sessionKey: "agent:main:main",
        levels: () => ({ verbose: "off", reasoning: "off", usage: "off" }),
        wasMentioned: false,
        isHeartbeat: false,
        clock,
        random,
        log: silentLogger,
        say: async () => {},
        spoken: [],
        prefixFacts: {},
        localRoots: [],
      }),
    story: stateText,
    async restart(midway) {
      if (!midway) while ((await store.read("outbox.counts", {})).attempting > 0) await turn();
      await stop();
      await start();
    },
    async pass(ms) {
      const end = clock.now() + ms;
      while (clock.now() < end) {
        await turn();
        if (underWay() === 0) clock.advance(Math.min(6000, end - clock.now()));
      }
    },
    async until(done) {
      for (;;) {
        await turn();
        if (await done()) return;
        if (underWay() === 0) clock.advance(1000);
      }
    },
    row: async (target) => (await store.read("outbox.recent", { limit: 50 })).find((row) => row.target === target),
  };
});
afterAll(() => stack.disposeAsync());

interface Case {
  readonly outage: Outage;
  readonly ms: number;
  readonly what: "send" | "edit";
  /** Everything fails, or only what sends the answer. */
  readonly scope: "all" | "one";
  readonly restarts: number;
}

/** What is seen once an outage is over, and the row of the answer. */
async function answerDuring({ outage, ms, what, scope, restarts }: Case) {
  const { telegram } = place;
  const chat = telegram.direct(telegram.person({ first_name: "Ada" })).id;
  const to = `telegram:${chat}`;
  const address = { channel: "telegram", accountId: "default", to, chatType: "direct" } as const;
  const shown = what === "edit" ? await place.delivery.send(address, [{ text: SHOWN }], { kind: "send" }) : undefined;
  const previewId = shown?.messageIds[0];
  const method = what === "edit" ? "editMessageText" : "sendMessage";
  const isRefused = outage.fault === undefined;
  if (outage.fault) telegram.fault(scope === "all" ? "*" : method, { times: 100_000, ...outage.fault });
  else await telegram.down();
  const calls = telegram.calls(method).length;
  void place.delivery.send(address, [{ text: ANSWER }], { kind: "final", ...(previewId === undefined ? {} : { previewId }) }, 1);
  await (isRefused ? place.until(async () => ((await place.row(to))?.attempts ?? 0) > 0) : place.until(() => telegram.calls(method).length > calls));
  for (let round = 0; round <= restarts; round += 1) {
    if (round > 0) await place.restart(outage.hangs === true);
    if (!outage.hangs) await place.pass(ms / (restarts + 1));
  }
  if (isRefused) await telegram.up();
  else telegram.clearFaults();
  if (outage.hangs) telegram.dropConnections();
  await place.until(async () => (await place.row(to))?.settledAt !== null);
  const texts = telegram
    .messages(chat)
    .filter(({ byBot }) => byBot)
    .map(({ text }) => text);
  return { texts, row: (await place.row(to))! };
}

const cases = ({ hangs }: Outage): readonly Omit<Case, "outage">[] =>
  (["send", "edit"] as const).flatMap((what) =>
    (["all", "one"] as const).flatMap((scope) =>
      hangs
        ? [{ what, scope, ms: 0, restarts: 1 }]
        : [3000, 10 * MINUTE_MS].flatMap((ms) => [0, ms > MINUTE_MS ? 3 : 1].map((restarts) => ({ what, scope, ms, restarts }))),
    ),
  );

test.each(Object.entries(OUTAGES))("%s: once it is over the answer is there", { timeout: 120_000 }, async (_, outage) => {
  for (const one of cases(outage)) {
    const { texts, row } = await answerDuring({ outage, ...one });
    const seen = one.what === "edit" ? [ANSWER] : outage.seen;
    expect({ ...one, texts, state: row.state }).toEqual({
      ...one,
      texts: expect.toBeOneOf([seen, ...(isBlamed(one, outage) ? [[REPEAT]] : [])]),
      state: "sent",
    });
    expect(row.repeats, JSON.stringify(one)).toBeLessThanOrEqual(1);
  }
});

/** Editing alone fails for so long, while messages can be sent, that the answer becomes a new message. */
const isBlamed = ({ what, scope, ms }: Omit<Case, "outage">, { fault }: Outage): boolean =>
  what === "edit" && scope === "one" && ms > MINUTE_MS && fault !== undefined && fault.retryAfter === undefined;

const BAD_GATEWAY: Fault = { status: 502, description: "Bad Gateway", times: 100_000 };

function newChat() {
  const { telegram } = place;
  const chat = telegram.direct(telegram.person({ first_name: "Ada" })).id;
  const to = `telegram:${chat}`;
  const when = (params: Readonly<Record<string, unknown>>): boolean => String(params["chat_id"]) === String(chat);
  const address = { channel: "telegram", accountId: "default", to, chatType: "direct" } as const;
  const texts = (): string[] => telegram.messages(chat).flatMap(({ byBot, text }) => (byBot ? [text] : []));
  return { to, when, address, texts, settled: () => place.until(async () => (await place.row(to))?.settledAt !== null) };
}

const SHOWS = { stream: "assistant", data: { text: SHOWN, delta: SHOWN } } as const;

/** Shows the first words of the answer while it is written, as far as that works, and hands over the whole. `before` runs between the two. */
async function answerStreamed({ to, address }: ReturnType<typeof newChat>, before?: (stream: ReplyStream) => Promise<void>): Promise<void> {
  const calls = place.telegram.calls("sendMessage").length;
  const stream = place.stream(to);
  stream.event(SHOWS);
  await place.until(() => place.telegram.calls("sendMessage").length > calls);
  await before?.(stream);
  const { payloads, ...shown } = await stream.finish(turnEnd([ANSWER]));
  void place.delivery.send(address, payloads, { kind: "final", ...shown }, 1);
  await place.until(async () => (await place.row(to)) !== undefined);
}

const STREAMED = [true, false].flatMap((applied) =>
  (["one chat", "all chats"] as const).flatMap((scope) =>
    ([1500, 35_000, 10 * MINUTE_MS] as const).flatMap((ms) => [0, 1].map((restarts) => ({ applied, scope, ms, restarts }))),
  ),
);

test("an answer behind a preview that may have been posted is its one repeat, with one mark", { timeout: 120_000 }, async () => {
  const { telegram } = place;
  for (const one of STREAMED) {
    const [chat, other] = [newChat(), newChat()];
    telegram.fault("*", { ...BAD_GATEWAY, ...(one.applied ? { applied: true } : {}), ...(one.scope === "one chat" ? { when: chat.when } : {}) });
    await answerStreamed(chat);
    const shown = one.applied ? [SHOWN] : [];
    expect({ ...one, texts: chat.texts(), state: (await place.row(chat.to))!.state }).toEqual({ ...one, texts: shown, state: "unknown" });
    await place.pass(one.ms / 2);
    if (one.scope === "one chat") expect(await place.delivery.send(other.address, [{ text: "Hello" }], { kind: "send" })).toMatchObject({ state: "sent" });
    if (one.restarts > 0) await place.restart(false);
    await place.pass(one.ms / 2);
    expect({ ...one, texts: chat.texts() }).toEqual({ ...one, texts: shown });
    telegram.clearFaults();
    await chat.settled();
    const row = (await place.row(chat.to))!;
    expect({ ...one, texts: chat.texts(), state: row.state }).toEqual({ ...one, texts: [...shown, REPEAT], state: "sent" });
    expect(place.story(row)).toMatch(/^sent as message \d+.*, 1 repeat; a preview with the beginning of it may also be in the chat$/);
  }
});

test.each([true, false])("the repeat of a preview is not sent a second time when nobody knows of it either (applied: %s)", async (applied) => {
  const chat = newChat();
  place.telegram.fault("sendMessage", { ...BAD_GATEWAY, times: 2, when: chat.when, ...(applied ? { applied: true } : {}) });
  await answerStreamed(chat);
  await chat.settled();
  await place.pass(MINUTE_MS);
  expect(chat.texts()).toEqual(applied ? [SHOWN, REPEAT] : []);
  expect(await place.row(chat.to)).toMatchObject({
    state: "failed",
    attempts: 1,
    why: expect.stringContaining("may have arrived, and was sent again already"),
  });
});

test("an answer waits for its own chat, whatever others of the account do", async () => {
  const [chat, other] = [newChat(), newChat()];
  place.telegram.fault("*", { ...BAD_GATEWAY, when: chat.when });
  void place.delivery.send(chat.address, [{ text: ANSWER }], { kind: "final" }, 1);
  await place.until(async () => (await place.row(chat.to))?.state === "unknown");
  for (let round = 0; round < 3; round += 1) {
    expect(await place.delivery.send(other.address, [{ text: "Hello" }], { kind: "send" })).toMatchObject({ state: "sent" });
    await place.pass(12_000);
    expect(await place.row(chat.to)).toMatchObject({ state: "unknown", attempts: 1, repeats: 0 });
  }
  place.telegram.clearFaults();
  await chat.settled();
  expect([chat.texts(), (await place.row(chat.to))!.state]).toEqual([[REPEAT], "sent"]);
});

test("a preview that certainly was not posted leaves the answer a first message, after the pause that Telegram asked for", async () => {
  const chat = newChat();
  place.telegram.fault("sendMessage", { retryAfter: 7, when: chat.when });
  await answerStreamed(chat);
  const calls = place.telegram.calls("sendMessage").length;
  await place.pass(6000);
  expect([place.telegram.calls("sendMessage").length, chat.texts()]).toEqual([calls, []]);
  await chat.settled();
  expect(chat.texts()).toEqual([ANSWER]);
});

test("the pause that Telegram asked a preview for counts for the last edit as well", async () => {
  const chat = newChat();
  const edits = (): number => place.telegram.calls("editMessageText").filter(({ params }) => chat.when(params)).length;
  place.telegram.fault("editMessageText", { retryAfter: 7, when: chat.when });
  await answerStreamed(chat, async (stream) => {
    await place.until(() => chat.texts().length === 1);
    stream.event({ stream: "assistant", data: { text: `${SHOWN} its first`, delta: " its first" } });
    await place.until(() => edits() === 1);
  });
  await place.pass(5000);
  expect([edits(), chat.texts()]).toEqual([1, [SHOWN]]);
  await chat.settled();
  expect([edits(), chat.texts()]).toEqual([2, [ANSWER]]);
});
