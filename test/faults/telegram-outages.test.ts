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
    await delivery.resume();
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
