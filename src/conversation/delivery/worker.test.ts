import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { ADDRESS, failing, fakeChannel, openWorld, type FakeChannel, type Reaction, type World } from "./delivery.fixture.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.[Symbol.asyncDispose]();
  world = undefined;
});

const REACTIONS: Readonly<Record<string, Reaction>> = {
  ok: "ok",
  refused: failing("refused", { code: "ECONNREFUSED" }),
  lost: failing("reset", { code: "ECONNRESET" }),
  denied: failing("denied", { status: 403 }),
  flood: failing("429", { status: 429, retryAfter: 2 }),
};

async function add(
  w: World,
  rows: readonly { readonly to: string; readonly text: string; readonly payload?: unknown; readonly expiresAt?: number }[],
): Promise<readonly number[]> {
  const made = rows.map(({ to, text, payload = { kind: "final", text }, expiresAt = w.clock.now() + 86_400_000 }, index) => ({
    nonce: `n-${to}-${index}`,
    channel: "chat",
    account: "default",
    target: to,
    payload,
    expiresAt,
  }));
  return (await w.store.write("outbox.add", { rows: made })).ids;
}

const ends = (w: World, ids: readonly number[]) => () => ids.every((id) => w.ended.some((row) => row.id === id));

test("whatever fails in between, each target gets its rows in order and each row has one end", async () => {
  const w = (world = await openWorld(fakeChannel()));
  let run = 0;
  const reaction = fc.constantFrom(...Object.keys(REACTIONS));
  const row = fc.record({ target: fc.constantFrom("a", "b", "c"), reactions: fc.array(reaction, { maxLength: 3 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async (rows) => {
      run += 1;
      w.ended.length = 0;
      const plans = new Map(rows.map(({ reactions }, index) => [`${run}:${index}`, [...reactions]]));
      const attempted: string[] = [];
      const ask: Reaction = ({ text, to }) => {
        const key = text.replace("(repeat?) ", "");
        attempted.push(`${to} ${key}`);
        const next = REACTIONS[plans.get(key)!.shift() ?? "ok"];
        if (next instanceof Error) throw next;
        return undefined;
      };
      w.channels.set(
        "chat",
        fakeChannel(
          Array.from({ length: 200 }, () => ask),
          {},
          { status: { probeAccount: async () => ({ ok: true }) } },
        ),
      );
      const ids = await add(
        w,
        rows.map(({ target }, index) => ({ to: `${run}${target}`, text: `${run}:${index}` })),
      );
      w.delivery.kick();
      await w.drain(ends(w, ids));
      expect(w.ended.map(({ id }) => id).sort((a, b) => a - b)).toEqual(ids);
      for (const target of ["a", "b", "c"]) {
        const order = attempted.filter((line) => line.startsWith(`${run}${target} `)).map((line) => Number(line.split(":")[1]));
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      }
      for (const id of ids) expect((await w.store.read("outbox.get", { id }))!.state).toMatch(/^(?:sent|failed)$/);
      expect(w.delivery.open()).toBe(0);
    }),
    { numRuns: 12 },
  );
});

test("after a restart what was being sent goes out once more, marked, and what was sent does not", async () => {
  const before = fakeChannel(["ok", () => new Promise(() => {})]);
  const w = (world = await openWorld(before));
  const ids = await add(w, [
    { to: "42", text: "first" },
    { to: "42", text: "second" },
    { to: "42", text: "third" },
  ]);
  w.delivery.kick();
  await w.drain(() => before.sent.length === 2);
  const after = fakeChannel();
  w.channels.set("chat", after);
  await w.restart();
  w.delivery.kick();
  await w.drain(ends(w, ids));
  expect(after.sent.map(({ text, isRepeat }) => [text, isRepeat])).toEqual([
    ["(repeat?) second", true],
    ["third", false],
  ]);
  expect((await w.rows()).map(({ state, attempts }) => [state, attempts])).toEqual([
    ["sent", 1],
    ["sent", 2],
    ["sent", 1],
  ]);
});

test("where the platform drops repeats, a restart sends the same nonce without a sign", async () => {
  const before = fakeChannel([() => new Promise(() => {})], { nonceWindowMs: 60_000 });
  const w = (world = await openWorld(before));
  const ids = await add(w, [{ to: "42", text: "first" }]);
  w.delivery.kick();
  await w.drain(() => before.sent.length === 1);
  const after = fakeChannel([], { nonceWindowMs: 60_000 });
  w.channels.set("chat", after);
  await w.restart();
  w.delivery.kick();
  await w.drain(ends(w, ids));
  expect(after.sent).toMatchObject([{ text: "first", isRepeat: true, nonce: before.sent[0]!.nonce }]);
});

test("rows wait for a channel that is not there, go out when it comes, and fail when that is too late", async () => {
  const channel = fakeChannel();
  const w = (world = await openWorld(channel));
  w.channels.clear();
  const reported: unknown[] = [];
  w.hooks.on("message_sent", (event) => void reported.push([event.content, event.success, event.error]), { pluginId: "test" });
  const [late, good] = await add(w, [
    { to: "late", text: "late", expiresAt: w.clock.now() + 10_000 },
    { to: "good", text: "good" },
  ]);
  w.delivery.kick();
  await w.drain(() => w.ended.length === 1);
  expect(w.ended[0]).toMatchObject({ id: late, state: "failed", why: "expired" });
  expect(w.delivery.open()).toBe(1);
  w.channels.set("chat", channel);
  w.delivery.kick();
  for (let round = 0; round < 200 && w.ended.length < 2; round += 1) await w.turn();
  expect(w.ended[1]).toMatchObject({ id: good, state: "sent", attempts: 1 });
  expect(reported).toEqual([
    ["late", false, "expired"],
    ["good", true, undefined],
  ]);
});

test("rows of a stopped account wait", async () => {
  const channel = fakeChannel();
  let running = false;
  const w = (world = await openWorld(channel, { table: { get: () => channel.plugin, running: () => running } }));
  const ids = await add(w, [{ to: "42", text: "x" }]);
  w.delivery.kick();
  for (let round = 0; round < 5; round += 1) await w.turn();
  expect([channel.sent.length, w.delivery.open()]).toEqual([0, 1]);
  running = true;
  w.delivery.kick();
  await w.drain(ends(w, ids));
  expect(channel.sent).toHaveLength(1);
});

test("a row that cannot be read fails with its reason, and nobody else does", async () => {
  const channel = fakeChannel();
  const w = (world = await openWorld(channel));
  const ids = await add(w, [
    { to: "42", text: "", payload: "nonsense" },
    { to: "42", text: "", payload: { poll: { question: "?", options: ["a", "b"] }, text: "" } },
    { to: "42", text: "fine" },
  ]);
  w.delivery.kick();
  await w.drain(ends(w, ids));
  expect((await w.rows()).map(({ state, why }) => [state, why])).toEqual([
    ["failed", expect.stringContaining("cannot be read")],
    ["failed", expect.stringContaining("cannot send polls")],
    ["sent", null],
  ]);
});

test("targets are served side by side, up to a bound for an account", async () => {
  const gates: (() => void)[] = [];
  const channel: FakeChannel = fakeChannel(Array.from({ length: 30 }, () => () => new Promise<void>((resolve) => gates.push(resolve))));
  const w = (world = await openWorld(channel, { limits: { atOncePerAccount: 4 } }));
  const ids = await add(
    w,
    Array.from({ length: 10 }, (_, index) => ({ to: `t${index}`, text: "x" })),
  );
  w.delivery.kick();
  await w.drain(() => channel.sent.length === 4);
  for (let round = 0; round < 5; round += 1) await w.turn();
  expect(channel.underWay).toBe(4);
  while (w.ended.length < ids.length) {
    gates.shift()?.();
    await w.turn();
  }
  expect(channel.sent).toHaveLength(10);
});

test("more rows than are kept in memory go out in their order all the same", async () => {
  const channel = fakeChannel();
  const w = (world = await openWorld(channel, { limits: { held: 2 } }));
  const ids = await add(
    w,
    Array.from({ length: 9 }, (_, index) => ({ to: "42", text: String(index) })),
  );
  w.delivery.kick();
  await w.drain(ends(w, ids));
  expect(channel.sent.map(({ text }) => text).join("")).toBe("012345678");
});

test("a stop makes no new attempts, waits for those under way, and then leaves them", async () => {
  const gates: (() => void)[] = [];
  const channel = fakeChannel([() => new Promise<void>((resolve) => gates.push(resolve)), () => new Promise(() => {})]);
  const w = (world = await openWorld(channel));
  await add(w, [
    { to: "a", text: "ends in time" },
    { to: "b", text: "hangs" },
    { to: "a", text: "not begun" },
  ]);
  w.delivery.kick();
  await w.drain(() => channel.sent.length === 2);
  const stopped = w.delivery[Symbol.asyncDispose]();
  gates[0]!();
  for (let round = 0; round < 5; round += 1) await w.turn();
  w.clock.advance(5000);
  await stopped;
  const states = await Promise.all(["a", "b"].map(async (to) => (await w.rows(to)).map(({ state }) => state)));
  expect(states).toEqual([["sent", "pending"], ["attempting"]]);
  await expect(w.delivery.send(ADDRESS, [{ text: "x" }], { kind: "send" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  w.channels.set("chat", fakeChannel());
  await w.restart();
  w.delivery.kick();
  await w.drain(() => w.ended.length === 3);
  expect((await w.rows("b"))[0]).toMatchObject({ state: "sent", repeats: 1 });
});

test("a send under the same key is the same send, even after a restart", async () => {
  const channel = fakeChannel();
  const w = (world = await openWorld(channel));
  const facts = { kind: "send", idempotencyKey: "k1" } as const;
  const both = await Promise.all([w.delivery.send(ADDRESS, [{ text: "x" }], facts), w.delivery.send(ADDRESS, [{ text: "x" }], facts)]);
  expect(both[0]).toEqual(both[1]);
  await w.restart();
  expect(await w.delivery.send(ADDRESS, [{ text: "x" }], facts)).toEqual(both[0]);
  expect(channel.sent).toHaveLength(1);
  await expect(w.delivery.send(ADDRESS, [{ text: "another" }], facts)).rejects.toMatchObject({ code: "CONFLICT" });
});

test("a caller that stops waiting gets the current state", async () => {
  const channel = fakeChannel([failing("slow", { status: 429, retryAfter: 600 })]);
  const w = (world = await openWorld(channel));
  const report = await w.settle(w.delivery.send(ADDRESS, [{ text: "x" }], { kind: "send" }, 5000));
  expect(report).toMatchObject({ state: "pending", why: "slow", messageIds: [] });
});

test("what cannot be sent while the account does not receive is not given up: it goes out when the platform is back", async () => {
  let away = true;
  const reported: string[] = [];
  const refused = (): never => {
    throw failing("refused", { code: "ECONNREFUSED" });
  };
  const channel = fakeChannel(Array.from({ length: 500 }, () => () => (away ? refused() : undefined)));
  const table = { get: () => channel.plugin, receiving: () => !away };
  const activity = { record: () => void reported.push("sent"), sendFailed: ({ why }: { why: string }) => void reported.push(why) };
  const w = (world = await openWorld(channel, { table, activity }));
  const ids = await add(w, [{ to: "a", text: "kept" }]);
  w.delivery.kick();
  await w.drain(() => channel.sent.length >= 12);
  expect([w.ended, reported[0]]).toEqual([[], expect.stringContaining("refused")]);
  away = false;
  w.delivery.kick();
  await w.drain(ends(w, ids));
  expect([w.ended.map(({ state }) => state), reported.at(-1)]).toEqual([["sent"], "sent"]);
});

test("one that may have arrived waits for the account to receive before it is sent again", async () => {
  let away = true;
  const lost = failing("reset", { code: "ECONNRESET" });
  const channel = fakeChannel([lost]);
  const w = (world = await openWorld(channel, { table: { get: () => channel.plugin, receiving: () => !away } }));
  const ids = await add(w, [{ to: "a", text: "once" }]);
  w.delivery.kick();
  await w.drain(() => channel.sent.length === 1 && channel.underWay === 0);
  for (let round = 0; round < 40; round += 1) {
    await w.turn();
    w.clock.advance(5000);
  }
  expect([channel.sent.length, w.ended.length]).toEqual([1, 0]);
  away = false;
  w.delivery.kick();
  await w.drain(ends(w, ids));
  expect(channel.sent.map(({ text }) => text)).toEqual(["once", "(repeat?) once"]);
});

/** Sends of "bad" texts fail like this; all others arrive. */
const failingFor = (bad: string, error: Error): Reaction[] =>
  Array.from({ length: 500 }, () => ({ text }) => {
    if (text.includes(bad)) throw error;
  });

test("a message that alone cannot be sent is given up when its account works, and stands in nobody's way", async () => {
  const status = { probeAccount: async () => ({ ok: true }) };
  const channel = fakeChannel(failingFor("bad", failing("try later", { delivery: { state: "retry" } })), {}, { status });
  const w = (world = await openWorld(channel));
  const ids = await add(w, [
    { to: "a", text: "bad" },
    { to: "a", text: "behind it" },
    { to: "b", text: "elsewhere" },
  ]);
  w.delivery.kick();
  await w.drain(ends(w, ids));
  expect((await w.rows("a")).map(({ state }) => state)).toEqual(["failed", "sent"]);
  expect((await w.rows("a"))[0]!.why).toMatch(/try later; given up after \d+ attempts/);
  expect(w.ended[0]).toMatchObject({ target: "b", state: "sent" });
});

test("on a channel that cannot be asked, one that may have arrived is sent again when something comes in, or after ten minutes", async () => {
  const channel = fakeChannel([failing("reset", { code: "ECONNRESET" }), "ok", failing("reset", { code: "ECONNRESET" })]);
  let inboundAt: number | null = null;
  const activity = { record: () => {}, get: () => ({ inboundAt, outboundAt: null }) };
  const w = (world = await openWorld(channel, { activity }));
  const [first] = await add(w, [{ to: "a", text: "one" }]);
  w.delivery.kick();
  await w.drain(() => channel.sent.length === 1 && channel.underWay === 0);
  const failedAt = w.clock.now();
  await w.drain(() => w.clock.now() > failedAt + 120_000);
  expect(channel.sent).toHaveLength(1);
  inboundAt = w.clock.now();
  w.delivery.kick();
  await w.drain(ends(w, [first!]));
  expect(w.clock.now() - inboundAt).toBeLessThan(5000);
  const [second] = await add(w, [{ to: "a", text: "two" }]);
  const sentAt = w.clock.now();
  w.delivery.kick();
  await w.drain(ends(w, [second!]));
  expect(channel.sent.map(({ text }) => text)).toEqual(["one", "(repeat?) one", "two", "(repeat?) two"]);
  expect(w.clock.now() - sentAt).toBeGreaterThanOrEqual(600_000);
});

test("an account whose sends hang does not keep others from sending", async () => {
  const hangs: Reaction = ({ accountId, text }) => {
    if (text === "first") throw failing("bad gateway", { status: 502 });
    return accountId === "default" ? new Promise(() => {}) : undefined;
  };
  const channel = fakeChannel(Array.from({ length: 500 }, () => hangs));
  const w = (world = await openWorld(channel, { limits: { atOnce: 8 } }));
  const lost = await add(w, [{ to: "t", text: "first" }]);
  w.delivery.kick();
  await w.drain(() => channel.sent.length === 1 && channel.underWay === 0);
  for (let round = 0; round < 5; round += 1) await w.turn();
  await add(
    w,
    Array.from({ length: 20 }, (_, index) => ({ to: `t${index}`, text: "x" })),
  );
  await w.store.write("outbox.add", {
    rows: [
      { nonce: "other", channel: "chat", account: "other", target: "o", payload: { kind: "final", text: "through" }, expiresAt: w.clock.now() + 86_400_000 },
    ],
  });
  w.delivery.kick();
  for (let round = 0; round < 50 && w.ended.length === 0; round += 1) await w.turn();
  expect(w.ended.map(({ account }) => account)).toEqual(["other"]);
  expect(lost).toHaveLength(1);
});

test("the answer to a command goes before the rest of a long answer, after what is being sent; commands keep their order", async () => {
  const held = Promise.withResolvers<void>();
  const texts: string[] = [];
  const first: Reaction = async ({ text }) => {
    texts.push(text);
    await held.promise;
    return undefined;
  };
  const note: Reaction = ({ text }) => void texts.push(text);
  const w = (world = await openWorld(fakeChannel([first, note, note, note, note])));
  const long = await add(
    w,
    ["one", "two", "three"].map((text) => ({ to: "a", text })),
  );
  w.delivery.kick();
  await w.drain(() => texts.length === 1);
  const commands = await add(
    w,
    ["status", "whoami"].map((text) => ({ to: "a", text, payload: { kind: "command", text } })),
  );
  w.delivery.kick();
  for (let i = 0; i < 5; i += 1) await w.turn();
  held.resolve();
  await w.drain(ends(w, [...long, ...commands]));
  expect(texts).toEqual(["one", "status", "whoami", "two", "three"]);
});
