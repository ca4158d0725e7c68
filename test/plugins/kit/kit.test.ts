import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { startFakeServer } from "../../../src/plugin-testing/index.ts";
import type { ChannelGatewayContext, ChannelInboundEvent } from "../../../src/protocol/index.ts";
import { keepConnected } from "../../../src/plugins/sdk/kit/connection.ts";
import { openCursor } from "../../../src/plugins/sdk/kit/cursor.ts";
import { asChannelError, type ChannelError, hopeless, notSent } from "../../../src/plugins/sdk/kit/failure.ts";
import { createHttpClient } from "../../../src/plugins/sdk/kit/http.ts";
import { createIntake, silentLog } from "../../../src/plugins/sdk/kit/intake.ts";
import { openSocket } from "../../../src/plugins/sdk/kit/socket.ts";
import type { Waiting } from "../../../src/plugins/sdk/kit/waiting.ts";
import { isFresh, verifyHmac } from "../../../src/plugins/sdk/kit/webhook.ts";

const patient: Waiting = { now: () => 0, sleep: async () => {}, random: () => 0.5 };
const failureOf = async (work: Promise<unknown>): Promise<ChannelError> =>
  asChannelError(
    await work.then(
      () => undefined,
      (error: unknown) => error,
    ),
  ) ?? expect.fail("it did not fail as it should");

test("a request that never left may be sent again; one whose answer is lost may have arrived", async () => {
  await using server = await startFakeServer({ handle: () => ({ body: { ok: true } }) });
  const http = createHttpClient({ platform: "Post", baseUrl: server.url });
  expect((await http.request({ path: "/a", json: { x: 1 } })).json).toEqual({ ok: true });
  server.faults.add({ reset: true, applied: true });
  expect((await failureOf(http.request({ path: "/a", json: {} }))).delivery.state).toBe("unknown");
  server.faults.add({ silent: true });
  expect((await failureOf(http.request({ path: "/a", json: {}, timeoutMs: 50 }))).delivery.state).toBe("unknown");
  await server.close();
  expect((await failureOf(http.request({ path: "/a", json: {} }))).delivery.state).toBe("retry");
  http.close();
});

test("a 429 says how long to wait, and its lane waits without asking again", async () => {
  await using server = await startFakeServer({ handle: () => ({}) });
  let now = 1000;
  const http = createHttpClient({ platform: "Post", baseUrl: server.url, now: () => now });
  server.faults.add({ status: 429, headers: { "retry-after": "7" } });
  expect((await failureOf(http.request({ path: "/a", json: {}, lane: "chat" }))).delivery).toEqual({ state: "retry", retryAfterMs: 7000 });
  now += 2000;
  expect((await failureOf(http.request({ path: "/a", json: {}, lane: "chat" }))).delivery).toEqual({ state: "retry", retryAfterMs: 5000 });
  expect(server.asked).toHaveLength(1);
  await http.request({ path: "/a", json: {}, lane: "other" });
  now += 5000;
  await http.request({ path: "/a", json: {}, lane: "chat" });
  expect(server.asked).toHaveLength(3);
  http.close();
});

test("server errors may have had their effect, refusals have not; secrets are in neither", async () => {
  await using server = await startFakeServer({ handle: () => ({ status: 400, body: { error: "bad s3cret" } }) });
  const http = createHttpClient({
    platform: "Post",
    baseUrl: server.url,
    secrets: ["s3cret"],
    headers: { authorization: "Bearer s3cret" },
    readRefusal: ({ status, json }) => (status >= 400 ? { reason: String((json as { error?: unknown } | undefined)?.error) } : undefined),
  });
  const refusal = await failureOf(http.request({ path: "/send/s3cret", json: {} }));
  expect(refusal).toMatchObject({ status: 400, delivery: { state: "failed" }, message: "Post refused POST /send/<secret>: 400 bad <secret>" });
  expect(server.asked[0]!.headers.authorization).toBe("Bearer s3cret");
  server.faults.add({ status: 502 });
  expect((await failureOf(http.request({ path: "/", json: {} }))).delivery.state).toBe("unknown");
  http.close();
});

test("files are uploaded with progress, and downloaded from the platform's own hosts only, without its token elsewhere", async () => {
  const reports: number[] = [];
  await using other = await startFakeServer({ handle: () => ({ body: Buffer.from("elsewhere") }) });
  await using server = await startFakeServer({
    handle: ({ path }) => (path === "/moved" ? { status: 302, headers: { location: `${other.url}/file` } } : { body: Buffer.from("here") }),
  });
  const http = createHttpClient({ platform: "Post", baseUrl: server.url, headers: { authorization: "Bearer x" } });
  const data = Buffer.alloc(600_000, 7);
  await http.request({
    path: "/upload",
    parts: { note: "hello", file: { data, fileName: 'a"b.bin', mimeType: "image/png" } },
    onProgress: (sent, all) => reports.push(sent / all),
  });
  const [note, file] = server.asked[0]!.parts;
  expect([note!.data.toString(), file!.fileName, file!.mimeType, file!.data.equals(data)]).toEqual(["hello", "a_b.bin", "image/png", true]);
  expect(reports.at(-1)).toBe(1);
  expect(reports.length).toBeGreaterThan(4);
  expect((await http.download({ path: "/file", maxBytes: 100 })).data.toString()).toBe("here");
  expect(await failureOf(http.download({ path: "/moved", maxBytes: 100, allowHost: () => true }))).toMatchObject({ code: "HOST_REFUSED" });
  expect(await failureOf(http.download({ path: "file:///etc/hostname", maxBytes: 100, allowHost: () => true }))).toMatchObject({
    code: "HOST_REFUSED",
    message: "a file of Post has an address at file://; files are taken from its own hosts over https only",
  });
  expect(other.asked).toEqual([]);
  expect((await failureOf(http.download({ path: "/file", maxBytes: 2 }))).code).toBe("TOO_LARGE");
  http.close();
});

const event = (id: string, chat = "c"): ChannelInboundEvent => ({
  kind: "message",
  id,
  chat: { type: "direct", id: chat },
  sender: { id: "s" },
  text: id,
  to: chat,
});

test("events are offered in the order of their chat until they are stored, and reading pauses while too many wait", async () => {
  const taken: string[] = [];
  const flow: boolean[] = [];
  let refusals = 2;
  const intake = createIntake({
    inbound: {
      async accept({ id }) {
        if (id === "a1" && refusals-- > 0) throw Object.assign(new Error("full"), { code: "OVERLOADED" });
        if (id === "wrong") throw Object.assign(new Error("no"), { code: "INVALID_INPUT" });
        taken.push(id);
        return { outcome: "accepted", duplicate: false };
      },
    },
    waiting: patient,
    signal: new AbortController().signal,
    log: silentLog,
    flow: (isOpen) => flow.push(isOpen),
    most: 4,
  });
  const all = [event("a1"), event("a2"), event("wrong"), event("b1", "d"), event("a3")].map((one) => intake.add(one));
  expect(await Promise.all(all)).toEqual([true, true, true, true, true]);
  await intake.idle();
  expect(taken.filter((id) => id.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
  expect(taken).toContain("b1");
  expect(flow).toEqual([false, true]);
});

test("a position is never stored behind an event that is not", async () => {
  const saved: (number | undefined)[] = [];
  const cursor = await openCursor<number>({ store: { load: async () => 4, save: async (position) => void saved.push(position) }, now: () => 0, everyMs: 0 });
  expect(cursor.position).toBe(4);
  const [five, six, seven] = [cursor.began(5), cursor.began(6), cursor.began(7)];
  six();
  seven();
  expect(cursor.position).toBe(4);
  five();
  expect(cursor.position).toBe(7);
  await cursor.flush();
  cursor.reset(undefined);
  await cursor.flush();
  expect(saved).toEqual([7, undefined]);
});

test("connections follow each other with growing delays, until the account stops or an error is permanent", async () => {
  const slept: number[] = [];
  const reports: object[] = [];
  const ctx = {
    cfg: {},
    accountId: "default",
    account: {},
    abortSignal: new AbortController().signal,
    setStatus: (next: object) => void reports.push(next),
    inbound: { accept: async () => ({ outcome: "accepted", duplicate: false }) },
  } as unknown as ChannelGatewayContext;
  const waiting: Waiting = { now: () => 0, sleep: async (ms) => void slept.push(ms), random: () => 0.5 };
  const ends = [notSent("connect", "no line"), notSent("connect", "wait", 90_000), undefined, notSent("connect", "no line"), hopeless("the token is wrong")];
  await expect(keepConnected(ctx, { waiting, connect: async () => ends.shift() })).rejects.toThrow("the token is wrong");
  expect(slept).toEqual([2000, 90_000, 2000]);
  expect(reports.at(-1)).toMatchObject({ running: false, connected: false });
  expect(reports).toContainEqual(expect.objectContaining({ lastError: "no line", receiving: { state: "error", text: "no line" } }));
});

test("a socket notices silence, hands on JSON only, and tells why it ended", async () => {
  await using server = await startFakeServer({
    handle: () => undefined,
    upgrade: ({ headers }) => (headers.authorization === "Bearer x" ? undefined : 401),
    socket(socket) {
      socket.send({ hello: 1 });
      socket.send("no json");
      socket.onMessage((message) => (message === "freeze" ? socket.freeze() : socket.send({ echo: message })));
    },
  });
  const url = server.url.replace("http", "ws");
  const signal = new AbortController();
  const refused = openSocket({ platform: "Post", url, onMessage: () => {}, signal: signal.signal });
  await expect(refused.opened).rejects.toThrow("Post refused the connection: 401");
  expect((await refused.ended).error?.message).toContain("401");
  const heard: unknown[] = [];
  const garbage: string[] = [];
  const socket = openSocket({
    platform: "Post",
    url,
    headers: { authorization: "Bearer x" },
    silenceMs: 100,
    signal: signal.signal,
    onMessage: (message) => heard.push(message),
    onGarbage: (text) => garbage.push(text),
  });
  await socket.opened;
  await socket.send("ping");
  await expect.poll(() => heard).toEqual([{ hello: 1 }, { echo: "ping" }]);
  expect(garbage).toEqual(["no json"]);
  await socket.send("freeze");
  expect((await socket.ended).error?.message).toContain("nothing was received from Post");
});

test("a signature is checked over raw bytes, however it is written, and an empty secret verifies nothing", () => {
  const payload = Buffer.from([0, 255, 10]);
  const bytes = createHmac("sha256", "k").update(payload).digest();
  const check = (received: string | undefined, encoding: "hex" | "base64", secret = "k") => verifyHmac({ secret, payload, received, encoding });
  expect(check(bytes.toString("hex"), "hex")).toEqual({ ok: true, signature: bytes });
  expect(check(bytes.toString("hex").toUpperCase(), "hex")).toEqual({ ok: true, signature: bytes });
  expect(check(bytes.toString("base64url"), "base64")).toEqual({ ok: true, signature: bytes });
  for (const wrong of [undefined, "", "zz", bytes.toString("base64"), bytes.toString("hex").slice(2)]) expect(check(wrong, "hex").ok).toBe(false);
  expect(check(createHmac("sha256", "").update(payload).digest("hex"), "hex", "").ok).toBe(false);
  expect([isFresh(100, 100_000), isFresh(100, 500_000), isFresh(Number.NaN, 0)]).toEqual([true, false, false]);
});
