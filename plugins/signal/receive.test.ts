import { afterEach, beforeEach, expect, test } from "vitest";
import { openBench, type Bench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const texts = (account: Awaited<ReturnType<Bench["run"]>>): readonly string[] => account.events.map(({ text }) => text);
const lastIds = (): readonly unknown[] =>
  bench.signal.server.asked.filter(({ path }) => path === "/api/v1/events").map(({ headers }) => headers["last-event-id"]);

/** Breaks the connection and waits for the next one. */
async function reconnected({ signal }: Bench): Promise<void> {
  const listening = (): number => signal.server.asked.filter(({ path }) => /\/v1\/(?:events|receive)/.test(path)).length;
  const before = listening();
  signal.server.drop();
  await expect.poll(() => listening() > before && signal.listeners() === 1).toBe(true);
}

test("a stream that breaks goes on behind the last event that is stored", async () => {
  const { signal, anna } = bench;
  await using account = await bench.run();
  signal.world.say(anna, "one");
  await account.event(({ text }) => text === "one");
  signal.server.drop();
  signal.world.say(anna, "two");
  await account.event(({ text }) => text === "two");
  expect(texts(account)).toEqual(["one", "two"]);
  expect(lastIds()).toEqual([undefined, "1"]);
});

test("what came before the account was connected for the first time is not read, what came since then is", async () => {
  const { signal, anna } = bench;
  const old = signal.world.compose(anna, "long ago").envelope;
  const time = Date.now() - 3_600_000;
  signal.redeliver({ ...old, timestamp: time, serverReceivedTimestamp: time, dataMessage: { timestamp: time, message: "long ago" } });
  const first = await bench.run();
  await first.stop();
  signal.world.say(anna, "while it was stopped");
  await using second = await bench.run();
  await second.event(({ text }) => text === "while it was stopped");
  expect([texts(first), texts(second)]).toEqual([[], ["while it was stopped"]]);
  expect(lastIds()).toEqual([undefined, "0"]);
});

test("an event that the host did not take is brought again after a restart, and nothing behind it is skipped", async () => {
  const { signal, anna, zoe } = bench;
  const first = await bench.run({}, ({ text }) => {
    if (text === "two") throw new Error("the disk is full");
    return undefined;
  });
  signal.world.say(anna, "one");
  await first.event(({ text }) => text === "one");
  signal.world.say(anna, "two");
  await expect.poll(() => first.logs.some((line) => line.includes("the disk is full"))).toBe(true);
  // Another chat is not held up, and does not move the position.
  signal.world.say(zoe, "three");
  await first.event(({ text }) => text === "three");
  await first.stop();
  await using second = await bench.run();
  await second.event(({ text }) => text === "three");
  await second.event(({ text }) => text === "two");
  expect(lastIds()).toEqual([undefined, "1"]);
});

test("a daemon that was restarted brings all that it has; events without ids are read as they come", async () => {
  const { signal, anna } = bench;
  await using account = await bench.run();
  signal.world.say(anna, "one");
  await account.event(({ text }) => text === "one");
  signal.forget();
  signal.server.drop();
  signal.world.say(anna, "two");
  await account.event(({ text }) => text === "two");
  await account.stop();
  await using older = await openBench({ hasIds: false, isSingle: true });
  await using second = await older.run({ account: undefined });
  older.signal.world.say(older.anna, "three");
  await second.event(({ text }) => text === "three");
  await reconnected(older);
  older.signal.world.say(older.anna, "four");
  await second.event(({ text }) => text === "four");
  expect(texts(second)).toEqual(["three", "four"]);
});

test("a host that takes nothing for a while gets everything, in order and once", async () => {
  const { signal, anna } = bench;
  const gate = Promise.withResolvers<void>();
  await using account = await bench.run({}, () => gate.promise);
  const said = Array.from({ length: 700 }, (_, n) => `${n} ${"x".repeat(2000)}`);
  for (const text of said) signal.world.say(anna, text);
  await expect.poll(() => signal.server.connections).toBeGreaterThan(0);
  gate.resolve();
  await account.event(({ text }) => text === said.at(-1));
  expect(texts(account)).toEqual(said);
  expect(lastIds()).toHaveLength(1);
});

test("a daemon that fails is asked less and less often, up to every 10 s", async () => {
  const { signal, delays } = bench;
  await using account = await bench.run();
  signal.faults.add({ on: "/api/v1/check", status: 503, times: 6 });
  signal.server.drop();
  await expect.poll(() => delays.length).toBeGreaterThanOrEqual(6);
  expect(delays.slice(0, 6).map((ms) => Math.round(ms / 1000))).toEqual([1, 2, 4, 8, 10, 10]);
  await account.shows(({ connected }) => connected === true);
});

test.each([
  ["named", {}],
  ["the only one", { account: undefined }],
])("an account that is removed from the machine ends for good, %s", async (_name, section) => {
  const { signal } = bench;
  await using account = await bench.run(section);
  signal.unlink();
  signal.server.drop();
  expect(await account.ended).toMatchObject({ permanent: true });
  expect(account.status).toMatchObject({ running: false, connected: false, lastError: expect.stringContaining("link or register the number") as string });
  const asked = signal.server.asked.length;
  await expect(bench.channel.outbound!.sendText!({ cfg: bench.cfg(section), to: bench.anna.number!, text: "x" })).rejects.toMatchObject({
    delivery: { state: "failed" },
    permanent: true,
  });
  expect(signal.server.asked.length).toBe(asked + 1);
});

test("a daemon for one account that refuses to listen for it ends the account", async () => {
  await using single = await openBench({ isSingle: true });
  const account = await single.run();
  single.signal.unlink();
  single.signal.server.drop();
  expect(await account.ended).toMatchObject({ permanent: true });
});

test("read receipts are sent for private messages that are taken, and only where they are wanted", async () => {
  const { signal, anna, zoe, group } = bench;
  const accept = ({ sender }: { sender: { id: string } }) =>
    sender.id === anna.number ? { outcome: "accepted" as const, duplicate: false } : { outcome: "refused" as const, why: "a stranger" };
  const quiet = await bench.run({}, accept);
  signal.world.say(anna, "unseen");
  await quiet.event(({ text }) => text === "unseen");
  await quiet.stop();
  await using account = await bench.run({ sendReadReceipts: true }, accept);
  signal.world.say(zoe, "let me in");
  signal.world.say(anna, "in a group", { group });
  const { timestamp } = signal.world.say(anna, "seen");
  await account.event(({ text }) => text === "seen");
  await expect.poll(() => signal.receipts).toEqual([{ to: anna.uuid, timestamps: [timestamp], type: "read" }]);
});

test("the container is found by itself, and what it brings is taken", async () => {
  await using other = await openBench({ form: "container" });
  const { signal, anna, zoe, group } = other;
  await using account = await other.run({ sendReadReceipts: true });
  expect(account.status).toMatchObject({ mode: "container" });
  const { timestamp } = signal.world.say(anna, "hello", { files: [{ name: "a.txt", mime: "text/plain", data: Buffer.from("file") }] });
  signal.world.say(zoe, "all", { group });
  signal.raw("{broken");
  await account.event(({ text }) => text === "all");
  const hello = await account.event(({ text }) => text === "hello");
  const fetched = await other.channel.media!.fetch({
    cfg: other.cfg(),
    accountId: "default",
    ref: hello.media![0]!.ref,
    maxBytes: 100,
    signal: AbortSignal.timeout(5000),
  });
  expect(Buffer.from(fetched.data).toString("utf8")).toBe("file");
  await expect.poll(() => signal.receipts).toEqual([{ to: anna.uuid, timestamps: [timestamp], type: "read" }]);
  await reconnected(other);
  signal.world.say(anna, "again");
  await account.event(({ text }) => text === "again");
  signal.unlink();
  signal.server.drop();
  expect(await account.ended).toMatchObject({ permanent: true });
});

test("where neither form answers, the error is the daemon's", async () => {
  const { signal } = bench;
  signal.faults.add({ on: "/api/v1/check", status: 404, times: 1000 });
  const { config, status } = bench.channel;
  const probe = (more = {}) => status!.probeAccount!({ account: config.resolveAccount(bench.cfg(more)), cfg: bench.cfg(more), timeoutMs: 5000 });
  expect(await probe()).toMatchObject({ ok: false, status: 404 });
  signal.faults.clear();
  expect(await probe()).toMatchObject({ ok: true, mode: "native", bot: { number: signal.world.me.number, uuid: signal.world.me.uuid } });
  expect(await probe({ apiMode: "container" })).toMatchObject({ ok: false });
  await signal.server.close();
  expect(await probe()).toMatchObject({ ok: false, error: expect.stringContaining("could not be reached") as string });
});
