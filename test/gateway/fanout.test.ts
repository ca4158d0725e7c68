import { once } from "node:events";
import { expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { openClient, type Frame, type RawClient } from "../harness/gateway-client.ts";
import { expectInTime } from "../harness/in-time.ts";
import { startGateway } from "./start.ts";

const events = (client: RawClient, ...names: string[]): Frame[] => client.frames.filter((frame) => frame.event !== undefined && names.includes(frame.event));

const tool = { phase: "start", name: "read", toolCallId: "t1", args: {} } as const;
const turned = (enabled: boolean) => ({ enabled, phase: null, ts: 1 });

test("everybody gets the same events in the same order with the same numbers", async () => {
  await using started = await startGateway();
  const clients = await Promise.all(Array.from({ length: 20 }, () => openClient(started.gateway.url)));
  await Promise.all(clients.map((client) => client.connect()));
  for (let i = 0; i < 50; i += 1) started.gateway.hub.broadcast("voicewake.changed", { triggers: [`${i}`, "ü🦞".repeat(i * 50)] });
  await Promise.all(
    clients.map((client) => client.next((frame) => frame.event === "voicewake.changed" && (frame.payload!["triggers"] as string[])[0] === "49")),
  );
  const seen = clients.map((client) => events(client, "voicewake.changed"));
  const first = seen[0]!;
  expect(first.map((frame) => (frame.payload!["triggers"] as string[])[0])).toEqual(Array.from({ length: 50 }, (_, i) => `${i}`));
  const numbers = first.map((frame) => frame.seq!);
  expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i));
  for (const other of seen) expect(other).toEqual(first);
  await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
});

test("what needs a scope goes to those who have it, and leaves a gap for the others", async () => {
  await using started = await startGateway();
  const [admin, pairing, reader, node, nobody] = await Promise.all(Array.from({ length: 5 }, () => openClient(started.gateway.url)));
  await admin!.connect({ scopes: ["operator.admin"] });
  await pairing!.connect({ scopes: ["operator.pairing"] });
  await reader!.connect({ scopes: ["operator.read"] });
  await node!.connect({ role: "node", scopes: [] });
  await nobody!.connect({ scopes: [] });
  const { hub } = started.gateway;
  hub.broadcast("device.pair.resolved", { requestId: "r", deviceId: "d", decision: "approved", ts: 1 });
  hub.broadcast("chat", { runId: "r", sessionKey: "agent:main:main", seq: 1, state: "final" });
  hub.broadcast("talk.mode", turned(true));
  const all = [admin!, pairing!, reader!, node!, nobody!];
  await Promise.all(all.map((client) => client.event("talk.mode")));
  const names = all.map((client) => events(client, "device.pair.resolved", "chat", "talk.mode").map((frame) => frame.event));
  expect(names).toEqual([
    ["device.pair.resolved", "chat", "talk.mode"],
    ["device.pair.resolved", "talk.mode"],
    ["chat", "talk.mode"],
    ["chat", "talk.mode"],
    ["talk.mode"],
  ]);
  expect(new Set(all.map((client) => events(client, "talk.mode")[0]!.seq)).size).toBe(1);
  await Promise.all(all.map((client) => client[Symbol.asyncDispose]()));
});

test("a node that follows a session gets its events once more without a number", async () => {
  await using started = await startGateway();
  await using node = await openClient(started.gateway.url);
  const hello = await node.connect({ role: "node", scopes: [] });
  const { connId } = hello.payload!["server"] as { connId: string };
  started.gateway.hub.clients.get(connId)!.followed = new Set(["agent:main:main"]);
  const chat = (sessionKey: string) => started.gateway.hub.broadcast("chat", { runId: "r", sessionKey, seq: 1, state: "final" });
  chat("agent:main:main");
  chat("agent:main:other");
  started.gateway.hub.broadcast("talk.mode", turned(true));
  await node.event("talk.mode");
  expect(events(node, "chat").map((frame) => [frame.payload!["sessionKey"], frame.seq !== undefined])).toEqual([
    ["agent:main:main", true],
    ["agent:main:main", false],
    ["agent:main:other", true],
  ]);
});

test("an event for one connection has no number and reaches nobody else", async () => {
  await using started = await startGateway();
  await using a = await openClient(started.gateway.url);
  await using b = await openClient(started.gateway.url);
  const { connId } = (await a.connect()).payload!["server"] as { connId: string };
  await b.connect();
  const { hub } = started.gateway;
  expect(hub.send(connId, "agent", { runId: "r", stream: "tool", data: tool, seq: 1, ts: 1 })).toBe(true);
  expect(hub.send("nobody", "talk.mode", turned(true))).toBe(false);
  hub.broadcast("talk.mode", turned(false));
  await Promise.all([a.event("talk.mode"), b.event("talk.mode")]);
  expect(events(a, "agent")).toEqual([{ type: "event", event: "agent", payload: { runId: "r", stream: "tool", data: tool, seq: 1, ts: 1 } }]);
  expect(events(b, "agent")).toEqual([]);
});

test("a client that does not read loses what may be lost, is closed for the rest, and slows nobody", async () => {
  await using started = await startGateway();
  await using slow = await openClient(started.gateway.url);
  await using quick = await openClient(started.gateway.url);
  await slow.connect();
  await quick.connect();
  const { hub } = started.gateway;
  slow.ws.pause();
  const big = "x".repeat(1_048_576);
  const waiting = () => [...hub.clients.values()].map((client) => client.socket.writableLength).sort((a, b) => b - a)[0]!;
  let sent = 0;
  while (waiting() <= 52_428_800) {
    hub.broadcast("update.available", { updateAvailable: { currentVersion: "1", latestVersion: big, channel: "c" } });
    sent += 1;
    const at = sent;
    await quick.next(() => events(quick, "update.available").length === at);
    expect(sent).toBeLessThan(200);
  }
  const before = waiting();
  hub.broadcast("talk.mode", turned(true));
  await quick.event("talk.mode");
  expect(waiting()).toBe(before);
  expect(hub.clients.size).toBe(2);
  hub.broadcast("chat", { runId: "r", sessionKey: "agent:main:main", seq: 1, state: "delta" });
  expect(hub.clients.size).toBe(2);
  hub.broadcast("chat", { runId: "r", sessionKey: "agent:main:main", seq: 2, state: "final" });
  expect(hub.clients.size).toBe(1);
  slow.ws.resume();
  expect(await slow.closed).toEqual({ code: 1008, reason: "slow consumer" });
  expect(events(slow, "talk.mode")).toEqual([]);
  await quick.next((frame) => frame.event === "chat" && frame.payload!["state"] === "final");
});

test("a tick comes every thirty seconds", async () => {
  const clock = manualClock();
  await using started = await startGateway({ clock });
  await using client = await openClient(started.gateway.url);
  await client.connect();
  clock.advance(29_999);
  expect(events(client, "tick")).toEqual([]);
  clock.advance(1);
  expect(await client.event("tick")).toMatchObject({ payload: { ts: clock.now() }, seq: expect.any(Number) });
  clock.advance(60_000);
  await client.next(() => events(client, "tick").length === 3);
});

test("a leave is announced with the next version of presence, a connect is not", async () => {
  await using started = await startGateway();
  await using stays = await openClient(started.gateway.url);
  await stays.connect();
  const leaves = await openClient(started.gateway.url);
  const hello = await leaves.connect({ client: { id: "test", mode: "ui", version: "2", platform: "linux", displayName: "Kitchen" } });
  const { stateVersion } = hello.payload!["snapshot"] as { stateVersion: { presence: number } };
  await leaves.request("nope");
  expect(events(stays, "presence")).toEqual([]);
  leaves.ws.close();
  const update = await stays.event("presence");
  expect(update.stateVersion!.presence).toBe(stateVersion.presence + 1);
  expect(update.payload!["presence"]).toEqual(
    expect.arrayContaining([expect.objectContaining({ host: "Kitchen", reason: "disconnect", text: "Node: Kitchen · mode ui" })]),
  );
});

test("health is looked at once for many who connect together, and sent to all", async () => {
  let looks = 0;
  const health = { ok: true as const, ts: 1, durationMs: 0, channels: {}, channelOrder: [], channelLabels: {}, heartbeatSeconds: 0, defaultAgentId: "main" };
  const sessions = { path: "", count: 0, recent: [] };
  const handlers = () => ({ health: () => ({ ...health, agents: [], sessions, look: (looks += 1) }) });
  const clock = manualClock();
  await using started = await startGateway({ handlers, clock });
  const clients = await Promise.all(Array.from({ length: 30 }, () => openClient(started.gateway.url)));
  await Promise.all(clients.map((client) => client.connect()));
  const last = clients.at(-1)!;
  await last.event("health");
  const early = looks;
  expect(early).toBeLessThanOrEqual(32);
  const cached = await last.request("health", {});
  expect((cached.payload as unknown as { look: number }).look).toBe(looks);
  clock.advance(44_999);
  expect(looks).toBe(early);
  clock.advance(1);
  await last.next(() => looks === early + 1 && events(last, "health").length > 0);
  await last.request("health", {});
  expect(looks).toBe(early + 1);
  await last.request("health", { probe: true });
  expect(looks).toBe(early + 2);
  const versions = events(last, "health").map((frame) => frame.stateVersion!.health);
  expect(versions).toEqual([...versions].sort((a, b) => a - b));
  await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
});

test("a health that fails or never comes keeps nobody out", async () => {
  const failing = () => ({ health: () => Promise.reject(new Error("boom")) });
  await using broken = await startGateway({ handlers: failing });
  await using first = await openClient(broken.gateway.url);
  expect((await first.connect()).ok).toBe(true);
  const clock = manualClock();
  const waiting = Promise.withResolvers<void>();
  const never = () => ({ health: () => (waiting.resolve(), new Promise<never>(() => {})) });
  await using stuck = await startGateway({ handlers: never, clock });
  await using second = await openClient(stuck.gateway.url);
  const hello = second.connect();
  await waiting.promise;
  clock.advance(1000);
  expect((await hello).ok).toBe(true);
});

test("stopping tells all clients, then closes them with 1012", async () => {
  const started = await startGateway();
  await using open = await openClient(started.gateway.url);
  await using early = await openClient(started.gateway.url);
  await open.connect();
  await early.event("connect.challenge");
  await started.gateway.stop({ reason: "gateway restarting", restartExpectedMs: 1500 });
  expect(await open.closed).toEqual({ code: 1012, reason: "service restart" });
  expect(await early.closed).toEqual({ code: 1012, reason: "service restart" });
  expect(open.frames.at(-1)).toMatchObject({ event: "shutdown", payload: { reason: "gateway restarting", restartExpectedMs: 1500 } });
  expect(early.frames.map((frame) => frame.event)).toEqual(["connect.challenge"]);
  await expect(openClient(started.gateway.url)).rejects.toThrow("ECONNREFUSED");
  await started[Symbol.asyncDispose]();
});

test("stopping does not wait for a client that never answers", async () => {
  const started = await startGateway();
  const mute = await openClient(started.gateway.url);
  await mute.connect();
  mute.ws.pause();
  const before = performance.now();
  await started[Symbol.asyncDispose]();
  expectInTime(performance.now() - before, 8000);
  const gone = once(mute.ws, "close");
  mute.ws.terminate();
  await gone;
});

test("a node that answers no ping is gone within 30 seconds; one that only answers pings stays", async () => {
  const clock = manualClock();
  const left: string[] = [];
  const nodes = { connected: () => {}, disconnected: (connId: string) => void left.push(connId), unreadable: async () => {} };
  await using started = await startGateway({ clock, over: { nodes } });
  const asNode = { role: "node", scopes: [] };
  await using dead = await openClient(started.gateway.url, { autoPong: false });
  const { connId } = (await dead.connect(asNode)).payload!["server"] as { connId: string };
  await using alive = await openClient(started.gateway.url);
  await alive.connect(asNode);
  for (let count = 1; count <= 2; count += 1) {
    const pinged = Promise.all([once(dead.ws, "ping"), once(alive.ws, "ping")]);
    clock.advance(10_000);
    await pinged;
    // Its pong came before the answer to what it asks now.
    await alive.request("nothing");
  }
  clock.advance(10_000);
  expect(await dead.closed).toMatchObject({ code: 1006 });
  await expect.poll(() => left).toEqual([connId]);
  expect(started.gateway.hub.clients.size).toBe(1);
});
