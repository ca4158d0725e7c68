import { expect, test } from "vitest";
import { startFakeServer } from "../../../src/plugin-testing/index.ts";
import {
  type AccountRunOptions,
  asChannelError,
  createBackoff,
  createHttpClient,
  createIntake,
  createPauses,
  hopeless,
  keepConnected,
  keyedCursorStore,
  notSent,
  openCursor,
  openSocket,
  silentLog,
  unsure,
  type Waiting,
  wholeOf,
} from "../../../src/plugins/sdk/paths/channel-kit.ts";
import type { ChannelGatewayContext, ChannelInboundEvent } from "../../../src/protocol/index.ts";

function runWith(options: Omit<AccountRunOptions, "waiting">, accept: (event: ChannelInboundEvent) => Promise<void> = async () => {}) {
  const slept: number[] = [];
  const reports: Record<string, unknown>[] = [];
  const stop = new AbortController();
  let time = 0;
  const waiting: Waiting = {
    now: () => time,
    async sleep(ms) {
      slept.push(ms);
      time += ms;
    },
    random: () => 0.5,
  };
  const ctx = {
    cfg: {},
    accountId: "default",
    account: {},
    abortSignal: stop.signal,
    setStatus: (next: Record<string, unknown>) => void reports.push(next),
    inbound: { accept: async (event: ChannelInboundEvent) => ({ outcome: "accepted", duplicate: (await accept(event)) === undefined && false }) },
  } as unknown as ChannelGatewayContext;
  return { slept, reports, stop, pass: (ms: number) => void (time += ms), ended: Promise.resolve().then(() => keepConnected(ctx, { ...options, waiting })) };
}

test("a connection that only has to be made again is, at once, but not for ever", async () => {
  let count = 0;
  const run = runWith({
    async connect() {
      count += 1;
      return count > 6 ? hopeless("enough") : undefined;
    },
  });
  await expect(run.ended).rejects.toThrow("enough");
  expect(run.slept).toEqual([2000, 4000, 8000]);
  expect(run.reports).toContainEqual(expect.objectContaining({ lastError: "the connection keeps ending" }));
});

test("a connection that lasted starts the count over; how long that takes is the channel's choice", async () => {
  const errors = [notSent("connect", "one"), notSent("connect", "two"), notSent("connect", "three"), hopeless("over")];
  const lasting = runWith({
    async connect(run) {
      run.up();
      lasting.pass(30_000);
      return errors.shift();
    },
  });
  await expect(lasting.ended).rejects.toThrow("over");
  expect(lasting.slept).toEqual([2000, 2000, 2000]);
  const more = [notSent("connect", "one"), notSent("connect", "two"), hopeless("over")];
  const brief = runWith({
    goodMs: 0,
    backoff: createBackoff({ factor: 1.8 }),
    async connect(run) {
      run.up();
      return more.shift();
    },
  });
  await expect(brief.ended).rejects.toThrow("over");
  expect(brief.slept).toEqual([2000, 2000]);
});

test("the channel says which errors end an account, and what receiving lacks", async () => {
  const run = runWith({
    receiving: (error) => (asChannelError(error)?.action === "conflict" ? { state: "conflict", text: "taken", fix: "stop the other one" } : undefined),
    ends: (error) => asChannelError(error)?.action === "refused",
    connect: async (_run, attempt) => notSent(attempt === 1 ? "conflict" : "refused", "no"),
  });
  await expect(run.ended).rejects.toMatchObject({ permanent: false, action: "refused" });
  expect(run.reports).toContainEqual(expect.objectContaining({ receiving: { state: "conflict", text: "taken", fix: "stop the other one" } }));
});

test("an account that stops ends its connection, and what was read is handed over first", async () => {
  const taken: string[] = [];
  const run = runWith(
    {
      async connect(account) {
        account.up({ mode: "stream" });
        for (const id of ["1", "2"])
          void account.intake.add({ kind: "message", id, chat: { type: "direct", id: "c" }, sender: { id: "s" }, text: id, to: "c" });
        run.stop.abort();
        await account.stopped();
      },
    },
    async ({ id }) => void taken.push(id),
  );
  await run.ended;
  expect(taken).toEqual(["1", "2"]);
  expect(run.reports.at(-1)).toMatchObject({ running: false, connected: false });
  expect(run.slept).toEqual([]);
});

test("an event that the host calls wrong is named to the channel, once", async () => {
  const skipped: string[] = [];
  const invalid = Object.assign(new Error("no chat"), { code: "INVALID_INPUT" });
  const intake = createIntake({
    inbound: { accept: async () => Promise.reject(invalid) },
    waiting: { now: () => 0, sleep: async () => {}, random: () => 0.5 },
    signal: new AbortController().signal,
    log: silentLog,
    skipped: ({ id }, why) => skipped.push(`${id}: ${why}`),
  });
  const event: ChannelInboundEvent = { kind: "message", id: "1", chat: { type: "direct", id: "c" }, sender: { id: "s" }, text: "", to: "c" };
  expect(await intake.offer(event)).toBe(true);
  await intake.offerOnce({ ...event, id: "2" });
  expect(skipped).toEqual(["1: the host cannot accept it (no chat)", "2: the host cannot accept it (no chat)"]);
});

test("a position that cannot be read or written is reported, and reading goes on", async () => {
  const failures: unknown[] = [];
  const broken = { lookup: () => Promise.reject(new Error("unreadable")), register: () => Promise.reject(new Error("full")) };
  const store = keyedCursorStore(() => broken, "a", wholeOf);
  const cursor = await openCursor({ store, now: () => 0, failed: (error) => failures.push(String(error)) });
  expect(cursor.position).toBeUndefined();
  cursor.began(3)();
  await cursor.flush();
  expect([cursor.position, failures]).toEqual([3, ["Error: unreadable", "Error: full"]]);
});

test("a request whose token cannot be got was not made, whatever became of the token", async () => {
  await using server = await startFakeServer({ handle: () => ({}) });
  const sendWith = async (headers: () => Promise<Record<string, string>>) => {
    const http = createHttpClient({ platform: "Post", baseUrl: server.url, headers });
    const failure = asChannelError(await http.request({ path: "/a", json: {} }).catch((error: unknown) => error));
    http.close();
    return [failure?.delivery.state, failure?.permanent];
  };
  expect(await sendWith(() => Promise.reject(unsure("grant", "no answer")))).toEqual(["retry", false]);
  expect(await sendWith(() => Promise.reject(new Error("no key")))).toEqual(["retry", false]);
  expect(await sendWith(() => Promise.reject(hopeless("the key is wrong")))).toEqual(["failed", true]);
  expect(server.asked).toEqual([]);
});

test("an error changes its outcome and nothing else", () => {
  const error = notSent("edit", "no answer", 500).withDelivery({ state: "unknown" }, "maybe");
  expect(error).toMatchObject({ name: "ChannelError", action: "edit", message: "maybe", delivery: { state: "unknown" }, code: "UNAVAILABLE" });
});

test("pauses are by lane, the longest counts, and they pass", () => {
  let time = 0;
  const pauses = createPauses(() => time);
  pauses.set("a", 500);
  pauses.set("a", 200);
  expect([pauses.left("a"), pauses.left("b")]).toEqual([500, 0]);
  time = 500;
  expect(pauses.left("a")).toBe(0);
});

test("a socket with a wrong address, or closed before it is open, ends instead of throwing", async () => {
  const { signal } = new AbortController();
  const wrong = openSocket({ platform: "Post", url: "nonsense", signal, onMessage: () => {} });
  await expect(wrong.opened).rejects.toThrow("could not connect to Post");
  expect((await wrong.ended).error?.message).not.toContain("nonsense://");
  const early = openSocket({ platform: "Post", url: "ws://127.0.0.1:1", signal, onMessage: () => {} });
  early.close(4000, notSent("connect", "changed my mind"));
  expect(await early.ended).toMatchObject({ code: 4000, error: { message: "changed my mind" } });
  const stopped = new AbortController();
  stopped.abort();
  expect((await openSocket({ platform: "Post", url: "ws://127.0.0.1:1", signal: stopped.signal, stopCode: 4001, onMessage: () => {} }).ended).code).toBe(4001);
});

test("a socket that is to pause reads nothing until it may go on", async () => {
  await using server = await startFakeServer({ handle: () => undefined, socket: (socket) => socket.onMessage((message) => socket.send({ echo: message })) });
  const stop = new AbortController();
  const heard: unknown[] = [];
  const socket = openSocket({ platform: "Post", url: server.url.replace("http", "ws"), signal: stop.signal, onMessage: (message) => heard.push(message) });
  socket.flow(false);
  await socket.opened;
  await socket.send(1);
  // A whole exchange of another connection passes.
  await fetch(server.url);
  expect(heard).toEqual([]);
  socket.flow(true);
  await expect.poll(() => heard).toEqual([{ echo: 1 }]);
  stop.abort();
  expect((await socket.ended).code).toBe(1000);
});

test("a fake platform cuts answers, notices who left, and is away and back on its port", async () => {
  const left = Promise.withResolvers<void>();
  const client = new AbortController();
  await using server = await startFakeServer({
    handle({ path, gone }) {
      if (path === "/reset") return { cut: "reset" };
      gone.addEventListener("abort", () => left.resolve());
      // It is here, and the client waits no longer.
      client.abort();
      return { cut: "silent" };
    },
  });
  await expect(fetch(`${server.url}/reset`)).rejects.toThrow("fetch failed");
  await expect(fetch(`${server.url}/silent`, { signal: client.signal })).rejects.toThrow("aborted");
  await left.promise;
  const { url } = server;
  await server.close();
  await expect(fetch(url)).rejects.toThrow("fetch failed");
  await server.open();
  expect([server.url, (await fetch(`${url}/reset`).catch(() => "reset")) === "reset"]).toEqual([url, true]);
});
