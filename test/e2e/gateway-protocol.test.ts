import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EVENTS, METHODS, type EventName, type MethodName } from "../../src/protocol/index.ts";
import { createDevice } from "../harness/auth.ts";
import { enter, visit, type DeviceClient } from "../harness/device-client.ts";
import type { Frame } from "../harness/gateway-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { expectInTime } from "../harness/in-time.ts";
import { MINIMAL, refusalCode, REFUSED } from "./minimal-calls.ts";

const TOKEN = "protocol-test-token-0123456789";
const ALL = ["operator.admin"];
const PAIRING = ["operator.admin", "operator.approvals", "operator.pairing"];

function newPlace(gateway = ""): Place {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local", auth: { token: "${TOKEN}" }, ${gateway} } }`);
  return place;
}

const NODE = { id: "node-host", mode: "node", version: "1", platform: "linux" } as const;

let place: Place;
let gateway: GatewayProcess;
beforeAll(async () => {
  place = newPlace();
  gateway = await place.gateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const of = (runId: string) => (frame: Frame) => frame.payload?.["runId"] === runId && frame.type === "event";
const isFinal = (runId: string) => (frame: Frame) => of(runId)(frame) && frame.event === "chat" && frame.payload?.["state"] === "final";
const textOf = (frame: Frame): unknown => (frame.payload?.["message"] as { content?: { text?: string }[] } | undefined)?.content?.[0]?.text;
const say = (client: DeviceClient, idempotencyKey: string, message: string, sessionKey = "main") =>
  client.ask("chat.send", { sessionKey, message, idempotencyKey });

/** Messages of the assistant in a session, as the transcript has them. */
async function answersIn(client: DeviceClient, sessionKey: string): Promise<unknown[]> {
  const { payload } = await client.ask("chat.history", { sessionKey });
  const messages = payload!["messages"] as { role: string; content: { text: string }[] }[];
  return messages.filter(({ role }) => role === "assistant").map(({ content }) => content[0]?.text);
}

/** One line of a run's events: stream and phase, or chat and state. */
const step = ({ event, payload }: Frame): string => {
  if (event === "chat") return `chat ${String(payload!["state"])}`;
  const { phase } = payload!["data"] as { phase?: string };
  return [payload!["stream"], phase].filter(Boolean).join(" ");
};

test("a new device of this machine is paired without a question and comes back with its device token alone", async () => {
  await using watcher = await enter(gateway.url!, { token: TOKEN, scopes: PAIRING });
  await using first = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.write"] });
  const { deviceToken, role, scopes } = first.answer.payload!["auth"] as { deviceToken: string; role: string; scopes: string[] };
  expect([role, scopes]).toEqual(["operator", ["operator.write"]]);
  const { id } = first.device!;
  const resolved = await watcher.next(({ event, payload }) => event === "device.pair.resolved" && payload?.["deviceId"] === id);
  expect(resolved.payload).toMatchObject({ decision: "approved" });
  await first[Symbol.asyncDispose]();

  await using again = await enter(gateway.url!, { device: first.device, token: deviceToken, scopes: ["operator.write"] });
  expect(again.answer.payload!["auth"]).toMatchObject({ deviceToken, scopes: ["operator.write"] });
  expect((await again.ask("health")).ok).toBe(true);
  await using stranger = await visit(gateway.url!, { device: createDevice(), token: deviceToken, scopes: ["operator.write"] });
  expect(stranger.answer.error?.message).toMatch(/^unauthorized: /);
  expect([...watcher.faults(), ...first.faults(), ...again.faults()]).toEqual([]);
});

test("every advertised method is answered by what was built for it, in the shape it declares", async () => {
  await using client = await enter(gateway.url!, { token: TOKEN, scopes: ALL });
  const { features } = client.answer.payload as { features: { methods: MethodName[]; events: EventName[] } };
  expect(features.methods.length).toBeGreaterThan(30);
  for (const method of features.methods) {
    expect([method, METHODS[method].advertised ?? true]).toEqual([method, true]);
    const { ok, error } = await client.ask(method, MINIMAL[method]?.(client));
    const refusal = REFUSED[method];
    if (!refusal) expect([method, ok, error]).toEqual([method, true, undefined]);
    else expect([method, error?.code, error?.message]).toEqual([method, refusalCode(method), expect.stringMatching(refusal)]);
  }
  expect([...features.events].sort()).toEqual(Object.keys(EVENTS).sort());
  expect(client.faults()).toEqual([]);
});

test("a reader gets every advertised reading method answered", async () => {
  await using client = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.read"] });
  const { features } = client.answer.payload as { features: { methods: MethodName[] } };
  const reading = features.methods.filter((method) => METHODS[method].access === "operator.read");
  expect(reading).toEqual(expect.arrayContaining(["health", "status", "chat.history", "sessions.list", "config.get", "logs.tail"]));
  for (const method of reading) {
    const { ok, error } = await client.ask(method, MINIMAL[method]?.(client));
    expect([method, ok || error?.code === refusalCode(method), error?.message ?? ""]).toEqual([method, true, expect.stringMatching(REFUSED[method] ?? /^$/)]);
  }
});

test("a chat is followed from its start over cumulative text to one end, by everybody who may read", async () => {
  await using client = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.write"] });
  await using reader = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.read"] });
  await using mute = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.pairing"] });
  expect((await say(client, "follow-1", "one @chunks=6 @gap=60", "follow")).payload).toEqual({ runId: "follow-1", status: "started" });
  const final = await client.next(isFinal("follow-1"));
  await reader.next(isFinal("follow-1"));
  expect(textOf(final)).toBe("one w1 w2 w3 w4 w5");

  const events = client.frames.filter(of("follow-1"));
  const steps = events.map(step);
  expect([steps[0], steps[1], steps[2]]).toEqual(["lifecycle start", "assistant", "chat delta"]);
  expect(steps.slice(-2)).toEqual(["lifecycle end", "chat final"]);
  const pieces = events.filter((frame) => step(frame) === "assistant").map(({ payload }) => payload!["data"] as { text: string; delta: string });
  expect([pieces.length > 1, pieces.map(({ delta }) => delta).join(""), pieces.at(-1)!.text]).toEqual([true, textOf(final), textOf(final)]);
  const deltas = events.filter((frame) => step(frame) === "chat delta");
  expect(deltas.length).toBeGreaterThan(1);
  expect(deltas.length).toBeLessThan(6);
  for (const delta of deltas) expect("one w1 w2 w3 w4 w5".startsWith(String(textOf(delta)))).toBe(true);
  const agent = events.filter(({ event }) => event === "agent");
  expect(agent.map(({ payload }) => payload!["seq"])).toEqual(agent.map((_, index) => index + 1));
  expect(agent.every(({ payload }) => payload!["sessionKey"] === "agent:main:follow")).toBe(true);
  const ack = client.frames.findIndex(({ payload }) => payload?.["status"] === "started");
  expect(client.frames.indexOf(events[0]!)).toBeGreaterThan(ack);

  expect(reader.frames.filter(of("follow-1")).map(step)).toEqual(steps);
  await mute.ask("device.pair.list");
  expect(mute.frames.filter(of("follow-1"))).toEqual([]);
  expect(await answersIn(client, "follow")).toEqual(["one w1 w2 w3 w4 w5"]);
  const numbers = client.frames.flatMap(({ seq }) => seq ?? []);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  expect([...client.faults(), ...reader.faults()]).toEqual([]);
});

test("an agent that is made over the gateway answers at once, without a restart, and no longer once it is deleted", async () => {
  await using client = await enter(gateway.url!, { token: TOKEN, scopes: ALL });
  const made = await client.ask("agents.create", { name: "Ada", workspace: "~/ada", emoji: "🧮" });
  expect(made.payload).toEqual({ ok: true, agentId: "ada", name: "Ada", workspace: join(place.home, "ada") });
  expect(existsSync(join(place.home, "ada", "AGENTS.md"))).toBe(true);
  await say(client, "ada-1", "hello ada @chunks=1", "agent:ada:main");
  expect(textOf(await client.next(isFinal("ada-1")))).toBe("hello ada");
  const schedule = { kind: "every", everyMs: 86_400_000 };
  const job = {
    name: "ada's news",
    agentId: "ada",
    enabled: true,
    schedule,
    sessionTarget: "isolated",
    wakeMode: "now",
    payload: { kind: "agentTurn", message: "news" },
  };
  const { id } = (await client.ask("cron.add", job)).payload as { readonly id: string };
  const other = (await client.ask("cron.add", { ...job, name: "other", agentId: "main" })).payload as { readonly id: string };
  const disabledJobs = [{ id, name: "ada's news" }];
  expect((await client.ask("agents.delete", { agentId: "ada" })).payload).toEqual({ ok: true, agentId: "ada", removedBindings: 0, disabledJobs });
  const { jobs } = (await client.ask("cron.list", { includeDisabled: true })).payload as { readonly jobs: readonly { id: string; enabled: boolean }[] };
  expect(jobs.map((listed) => [listed.id, listed.enabled])).toEqual(
    expect.arrayContaining([
      [id, false],
      [other.id, true],
    ]),
  );
  for (const made of [id, other.id]) await client.ask("cron.remove", { id: made });
  expect(existsSync(join(place.home, "ada"))).toBe(false);
  expect((await say(client, "ada-2", "hello again", "agent:ada:other")).error?.message).toBe('unknown agent id "ada"');
  expect(client.faults()).toEqual([]);
});

test("a run can be stopped: aborted comes before the answer, and nothing after it", async () => {
  await using client = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.write"] });
  await say(client, "stop-1", "long @chunks=200 @gap=50", "stopped");
  await client.next((frame) => of("stop-1")(frame) && step(frame) === "chat delta");
  const { payload } = await client.ask("chat.abort", { sessionKey: "stopped", runId: "stop-1" });
  expect(payload).toEqual({ ok: true, aborted: true, runIds: ["stop-1"] });
  const end = client.frames.findIndex((frame) => of("stop-1")(frame) && step(frame) === "chat aborted");
  expect(client.frames[end]!.payload).toMatchObject({ stopReason: "rpc", message: { content: [{ text: expect.stringMatching(/^long/) }] } });
  expect(end).toBeLessThan(client.frames.findIndex((frame) => frame.payload?.["aborted"] === true && frame.type === "res"));
  await say(client, "stop-2", "next", "stopped");
  await client.next(isFinal("stop-2"));
  expect(client.frames.slice(end + 1).filter(of("stop-1"))).toEqual([]);
  expect(client.faults()).toEqual([]);
});

test("an agent run answers twice, and agent.wait tells how it ended", async () => {
  await using client = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.write"] });
  const params = { message: "twice @chunks=1", sessionKey: "agent:main:twice", idempotencyKey: "twice-1" };
  const final = await client.ask("agent", params);
  const answers = client.frames.filter(({ type, id }) => type === "res" && id === final.id).map(({ payload }) => payload!["status"]);
  expect(answers).toEqual(["accepted", "ok"]);
  expect(final.payload).toMatchObject({ runId: "twice-1", summary: "completed", result: { payloads: [{ text: "twice" }] } });
  expect((await client.ask("agent.wait", { runId: "twice-1" })).payload).toMatchObject({ status: "ok" });
  expect((await client.ask("agent", params)).payload).toEqual(final.payload);
  expect(await answersIn(client, "agent:main:twice")).toEqual(["twice"]);
  expect(client.faults()).toEqual([]);
});

test("the same key after a kill and a restart is the same turn; another message under it is refused", async () => {
  const own = newPlace();
  const device = createDevice();
  let run = await own.gateway();
  let deviceToken: string;
  {
    await using client = await enter(run.url!, { device, token: TOKEN, scopes: ["operator.write"] });
    ({ deviceToken } = client.answer.payload!["auth"] as { deviceToken: string });
    await say(client, "once", "only once @chunks=1", "kept");
    await client.next(isFinal("once"));
    expect((await say(client, "once", "only once @chunks=1", "kept")).payload).toEqual({ runId: "once", status: "ok" });
    run.child.kill("SIGKILL");
    await run.exited;
  }
  run = await own.gateway();
  await using _ = run;
  await using client = await enter(run.url!, { device, token: deviceToken, scopes: ["operator.write"] });
  expect((await say(client, "once", "only once @chunks=1", "kept")).payload).toEqual({ runId: "once", status: "ok" });
  const other = await say(client, "once", "something else", "kept");
  expect([other.error?.code, other.error?.message]).toEqual(["INVALID_REQUEST", expect.stringContaining("once")]);
  expect((await say(client, "once", "only once @chunks=1", "elsewhere")).error?.code).toBe("INVALID_REQUEST");
  await say(client, "after", "after @chunks=1", "kept");
  await client.next(isFinal("after"));
  expect(await answersIn(client, "kept")).toEqual(["only once", "after"]);
  expect(client.frames.filter(of("once"))).toEqual([]);
  expect(client.faults()).toEqual([]);
});

test("effects under a key are remembered over a kill, too", async () => {
  const own = newPlace();
  let run = await own.gateway();
  const patch = (label: string) => ({ key: "agent:main:labelled", label, idempotencyKey: "patch-1" });
  let first: unknown;
  {
    await using client = await enter(run.url!, { token: TOKEN, scopes: ALL });
    first = (await client.ask("sessions.patch", patch("one"))).payload;
    expect(first).toMatchObject({ ok: true, entry: { label: "one" } });
    run.child.kill("SIGKILL");
    await run.exited;
  }
  run = await own.gateway();
  await using _ = run;
  await using client = await enter(run.url!, { token: TOKEN, scopes: ALL });
  expect((await client.ask("sessions.patch", patch("one"))).payload).toEqual(first);
  expect((await client.ask("sessions.patch", patch("two"))).error?.code).toBe("INVALID_REQUEST");
});

test("a turn that was killed half-way is finished within ten seconds of the restart, with one answer", async () => {
  const own = newPlace();
  let run = await own.gateway();
  {
    await using client = await enter(run.url!, { token: TOKEN, scopes: ["operator.write"] });
    expect((await say(client, "cut", "cut short @chunks=50 @gap=50", "cut")).payload).toMatchObject({ status: "started" });
    await client.next((frame) => of("cut")(frame) && step(frame) === "assistant" && (frame.payload!["data"] as { text: string }).text.includes("w9"));
    run.child.kill("SIGKILL");
    await run.exited;
  }
  const restartedAt = Date.now();
  run = await own.gateway();
  await using _ = run;
  await using client = await enter(run.url!, { token: TOKEN, scopes: ["operator.write"] });
  const ended = await client.ask("agent.wait", { runId: "cut", timeoutMs: 10_000 });
  expectInTime(Date.now() - restartedAt, 10_000);
  expect(["ok", "error"]).toContain(ended.payload!["status"]);
  const whole = ["cut short", ...Array.from({ length: 49 }, (__, index) => `w${index + 1}`)].join(" ");
  expect(await answersIn(client, "cut")).toEqual([whole]);
  expect((await say(client, "cut", "cut short @chunks=50 @gap=50", "cut")).payload).toEqual({ runId: "cut", status: "ok" });
  expect(await answersIn(client, "cut")).toEqual([whole]);
  expect(client.faults()).toEqual([]);
});

test("what was accepted and waited behind a killed turn is answered, in order", async () => {
  const own = newPlace();
  let run = await own.gateway();
  {
    await using client = await enter(run.url!, { token: TOKEN, scopes: ["operator.write"] });
    await say(client, "q1", "first @chunks=20 @gap=50", "queue");
    for (const key of ["q2", "q3", "q4"]) expect((await say(client, key, `message ${key} @chunks=1`, "queue")).ok).toBe(true);
    run.child.kill("SIGKILL");
    await run.exited;
  }
  run = await own.gateway();
  await using _ = run;
  await using client = await enter(run.url!, { token: TOKEN, scopes: ["operator.write"] });
  expect((await client.ask("agent.wait", { runId: "q4", timeoutMs: 10_000 })).payload).toMatchObject({ status: "ok" });
  const [first, ...rest] = await answersIn(client, "queue");
  expect(String(first)).toMatch(/^first w1 .* w19$/);
  expect(rest).toEqual(["message q2", "message q3", "message q4"]);
});

test("SIGTERM tells shutdown, closes with 1012, lets what runs end, and nothing of it is said twice", async () => {
  const own = newPlace();
  const run = await own.gateway();
  {
    await using client = await enter(run.url!, { token: TOKEN, scopes: ["operator.write"] });
    await using node = await enter(run.url!, { token: TOKEN, role: "node", scopes: [], params: { client: NODE } });
    await say(client, "last", "last @chunks=10 @gap=50", "last");
    await client.next((frame) => of("last")(frame) && step(frame) === "assistant");
    run.child.kill("SIGTERM");
    for (const each of [client, node]) {
      expect(await each.closed).toEqual({ code: 1012, reason: "service restart" });
      const last = each.frames.findLast(({ type }) => type === "event");
      expect([last?.event, last?.payload]).toEqual(["shutdown", { reason: "gateway stopping", restartExpectedMs: null }]);
      expect(each.faults()).toEqual([]);
    }
    expect(await run.exited).toEqual({ code: 0, signal: null });
  }
  await using again = await own.gateway();
  await using client = await enter(again.url!, { token: TOKEN, scopes: ["operator.write"] });
  expect((await client.ask("agent.wait", { runId: "last", timeoutMs: 10_000 })).payload).toMatchObject({ status: "ok" });
  expect(await answersIn(client, "last")).toEqual(["last w1 w2 w3 w4 w5 w6 w7 w8 w9"]);
});
