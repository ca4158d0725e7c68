/** Heartbeats in a real gateway: what makes no model call, what reaches the chat, what wakes a session, and what a kill leaves. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
type Beat = Readonly<Record<string, unknown>> & { readonly status: string; readonly reason?: string; readonly ts: number };

let telegram: FakeTelegram;
let gateway: LabGateway;
let agents: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] };
  gateway = await startLabGateway({
    build: "dist-test",
    sections: {
      channels: { telegram: own },
      commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] },
      tools: { exec: { host: "gateway", security: "full", ask: "off" } },
    },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
  agents = gateway.sections["agents"] as typeof agents;
  // The main session talks in this chat from now on.
  telegram.say("say w-hello");
  await vi.waitUntil(() => texts().includes("Heard w-hello."), PATIENCE);
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});
beforeEach(() => gateway.model.answers(undefined));
afterEach(async () => {
  rmSync(join(gateway.workspace, "HEARTBEAT.md"), { force: true });
  beats({ every: "0m" });
  // The next test's answers and settings are not for a beat of this one.
  await expect.poll(async () => (await call<{ heartbeatSeconds: number }>("health", { probe: true })).heartbeatSeconds, PATIENCE).toBe(0);
  await expect.poll(() => call("chat.page", { sessionKey: "agent:main:main" }), PATIENCE).toMatchObject({ runs: [], pending: [] });
});

/** Sets how agents are woken; the running gateway takes it up. */
function beats(heartbeat: object): void {
  gateway.configure({ agents: { ...agents, defaults: { ...(agents["defaults"] as object), heartbeat } } });
}
const asks = (text: string): void => writeFileSync(join(gateway.workspace, "HEARTBEAT.md"), text);
const texts = (): readonly string[] => telegram.messages(telegram.me.id).map(({ text }) => text);
/** An answer that repeats the word; lines that other tests left may bring more. */
const heard = (word: string): unknown => expect.stringMatching(new RegExp(`^Heard .*w-${word}\\b`));
const askedWith = (word: string): number => gateway.model.requests.filter(({ user }) => user.includes(word)).length;
async function call<T>(method: string, params: object = {}): Promise<T> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  expect({ ok, error }).toMatchObject({ ok: true });
  return payload as T;
}
const last = (): Promise<Beat | null> => call<Beat | null>("last-heartbeat");
/** A beat after `since` that ended so. */
async function beatAs(expected: object, since = Date.now()): Promise<void> {
  await expect.poll(last, PATIENCE).toMatchObject({ ...expected, ts: expect.toSatisfy((ts: number) => ts >= since) });
}
const history = async (): Promise<number> => (await call<{ messages: readonly unknown[] }>("chat.history", { sessionKey: "agent:main:main" })).messages.length;

test("without a file, or with one that asks for nothing, no model is asked, and the reason is there to read", async () => {
  const before = gateway.model.requests.length;
  beats({ every: "1s" });
  await beatAs({ status: "skipped", reason: "no-heartbeat-file" });
  asks("# HEARTBEAT.md\n\n<!-- write tasks below -->\n- [ ]\n");
  await beatAs({ status: "skipped", reason: "empty-heartbeat-file" });
  expect((await gateway.cli("system", "heartbeat", "last")).output).toContain("HEARTBEAT.md asks for nothing");
  expect((await gateway.cli("system", "heartbeat", "last")).output).not.toContain("Sent to");
  beats({ every: "1s", activeHours: { start: "00:00", end: "00:01", timezone: new Date().getUTCHours() === 0 ? "Asia/Tokyo" : "UTC" } });
  await beatAs({ status: "skipped", reason: "quiet-hours" });
  expect(gateway.model.requests.length).toBe(before);
  expect((await gateway.cli("system", "event", "--text", "w-quiet", "--mode", "now")).output).toContain("when its active hours start");
  beats({ every: "0m" });
  await call("set-heartbeats", { enabled: false });
  expect((await gateway.cli("system", "event", "--text", "w-off", "--mode", "now")).output).toContain("heartbeats are off");
  await call("set-heartbeats", { enabled: true });
  // Both go with the next message, or with a beat before it.
  telegram.say("say w-caughtup");
  await expect.poll(() => texts().join(" "), PATIENCE).toMatch(/Heard[^.]* w-quiet w-off(?: w-caughtup\.|\..*Heard[^.]* w-caughtup\.)/);
});

test("an empty answer is an acknowledgement, and is not reported as sent", async () => {
  gateway.model.answers(({ user }) => (user.includes("HEARTBEAT.md") ? "" : undefined));
  asks("- look at nothing\n");
  beats({ every: "1s" });
  await beatAs({ status: "ok-empty", silent: true });
  expect((await gateway.cli("system", "heartbeat", "last")).output).not.toContain("Sent to");
});

test("an acknowledgement reaches nobody and leaves no trace in the conversation, but its cost is counted under its own name", async () => {
  const [messages, sent] = [await history(), texts().length];
  gateway.model.answers(({ user }) => (user.includes("HEARTBEAT.md") ? "HEARTBEAT_OK All quiet." : undefined));
  asks("- look at w-inbox\n");
  beats({ every: "1s" });
  await beatAs({ status: "ok-token", silent: true, indicatorType: "ok" });
  beats({ every: "0m" });
  expect([await history(), texts().length]).toEqual([messages, sent]);
  const { aggregates } = await call<{ aggregates: { byChannel: readonly unknown[] } }>("sessions.usage");
  expect(aggregates.byChannel).toContainEqual(expect.objectContaining({ channel: "heartbeat" }));
  telegram.say("say w-after");
  await expect.poll(texts, PATIENCE).toContainEqual(heard("after"));
  expect(gateway.model.requests.at(-1)?.body).not.toContain("HEARTBEAT_OK All quiet.");
});

test("an alert reaches the chat once, and is not repeated while it stays the same", async () => {
  gateway.model.answers(({ user }) => (user.includes("HEARTBEAT.md") ? "The disk is nearly full." : undefined));
  asks("- look at the disk\n");
  const since = Date.now();
  beats({ every: "1s" });
  await expect.poll(texts, PATIENCE).toContain("The disk is nearly full.");
  await beatAs({ status: "skipped", reason: "duplicate", preview: "The disk is nearly full." }, since);
  beats({ every: "0m" });
  expect(texts().filter((text) => text === "The disk is nearly full.")).toHaveLength(1);
});

test("the same answer to something new is sent again: another event, or a changed HEARTBEAT.md", async () => {
  gateway.model.answers(({ user }) => (/w-ring|HEARTBEAT\.md/.test(user) ? "The bell rang." : undefined));
  const rang = (): number => texts().filter((text) => text === "The bell rang.").length;
  for (const n of [1, 2]) {
    await call("wake", { text: `w-ring ${n}`, mode: "now", idempotencyKey: `ring-${n}` });
    await expect.poll(rang, PATIENCE).toBe(n);
  }
  const since = Date.now();
  asks("- look at the bell\n");
  beats({ every: "1s" });
  await beatAs({ status: "skipped", reason: "duplicate" }, since);
  const before = rang();
  asks("- look at the bell and the door\n");
  await expect.poll(rang, PATIENCE).toBe(before + 1);
});

test("a turn after an alert asks the model once, as every other", async () => {
  let n = 0;
  gateway.model.answers(({ user }) => (user.includes("HEARTBEAT.md") ? `Warning ${(n += 1)}.` : undefined));
  asks("- look at the disk\n");
  const since = Date.now();
  beats({ every: "1s" });
  await expect.poll(texts, PATIENCE).toContain("Warning 1.");
  await beatAs({ status: "sent" }, since);
  beats({ every: "0m" });
  telegram.say("say w-once");
  await expect.poll(texts, PATIENCE).toContainEqual(heard("once"));
  expect([askedWith("w-once"), texts().filter((text) => text.startsWith("Warning ")).length]).toEqual([1, n]);
});

test("what the command line reports wakes the agent at once, and its answer reaches the chat", async () => {
  expect((await gateway.cli("system", "event", "--text", "The door bell rang: say w-bell", "--mode", "now")).code).toBe(0);
  await expect.poll(texts, PATIENCE).toContainEqual(heard("bell"));
  expect(askedWith("w-bell")).toBe(1);
  expect(gateway.model.requests.find(({ user }) => user.includes("w-bell"))?.user).toMatch(/^System: \[[^\]]+\] The door bell rang: say w-bell\n\n/);
  const { output, code } = await gateway.cli("system", "event", "--text", "x", "--mode", "later");
  expect([code, output]).toEqual([1, expect.stringContaining('--mode is now or next-heartbeat, not "later"')]);
});

test("a line for the next heartbeat waits for it, also where there is no file", async () => {
  await call("wake", { text: "Remember to say w-later", mode: "next-heartbeat", idempotencyKey: "later-1" });
  expect(askedWith("w-later")).toBe(0);
  beats({ every: "1s" });
  await expect.poll(texts, PATIENCE).toContainEqual(heard("later"));
  expect(askedWith("w-later")).toBe(1);
});

test("commands that end in the background together give one turn, and their session tells of them", async () => {
  const file = (name: string): string => join(gateway.workspace, name);
  const command = (word: string): string => `while [ ! -e ${file("go-on")} ]; do sleep 0.02; done; echo w-${word}; touch ${file(word)}`;
  // The turn that starts them goes on until both have ended.
  const wait = `touch ${file("go-on")}; while [ ! -e ${file("one")} ] || [ ! -e ${file("two")} ]; do sleep 0.02; done; sleep 0.5`;
  gateway.model.answers(({ user, body }) => {
    if (!user.includes("start both")) return undefined;
    const results = (body.split("start both").at(-1) ?? "").split('"role":"tool"').length - 1;
    if (results === 0) return { text: "", calls: ["one", "two"].map((word) => ({ name: "exec", args: { command: command(word), background: true } })) };
    return results === 2 ? { text: "", calls: [{ name: "exec", args: { command: wait } }] } : "Both have run.";
  });
  telegram.say("start both");
  await expect.poll(texts, PATIENCE).toContain("Both have run.");
  await expect.poll(texts, PATIENCE).toContainEqual(expect.stringMatching(/w-one.*w-two|w-two.*w-one/));
  expect(gateway.model.requests.filter(({ user }) => /Exec completed .*w-(?:one|two)/.test(user))).toHaveLength(1);
});

test("a command whose end the agent has seen by itself wakes nobody", async () => {
  const started = gateway.model.requests.length;
  gateway.model.answers(({ user, body }) => {
    if (!user.includes("watch it")) return undefined;
    const results = (body.split("watch it").at(-1) ?? "").split('"role":"tool"').length - 1;
    if (results === 0) return { text: "", calls: [{ name: "exec", args: { command: "echo w-seen; sleep 0.2", background: true } }] };
    const id = /session ([a-z]+-[a-z]+)/.exec(body.split("watch it").at(-1) ?? "")?.[1] ?? "";
    if (results === 1) return { text: "", calls: [{ name: "process", args: { action: "poll", sessionId: id, timeout: 10_000 } }] };
    return "I saw it end.";
  });
  telegram.say("watch it");
  await expect.poll(texts, PATIENCE).toContain("I saw it end.");
  await gateway.aside();
  // What would have been asked for is asked for within a quarter of a second of the end of the turn.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(gateway.model.requests.slice(started).filter(({ user }) => user.includes("w-seen"))).toEqual([]);
  // The line itself goes with the next message.
  telegram.say("say w-next");
  await expect.poll(texts, PATIENCE).toContainEqual(expect.stringMatching(/w-seen.*w-next/));
});

test("outside the main session a beat sees only what it needs, and the main session learns what was sent", async () => {
  gateway.model.answers(({ user }) => (user.includes("HEARTBEAT.md") ? "Two letters came." : undefined));
  asks("- look at the letters\n");
  const before = gateway.model.requests.length;
  beats({ every: "1s", isolated: true });
  await expect.poll(texts, PATIENCE).toContain("Two letters came.");
  beats({ every: "0m" });
  const beat = gateway.model.requests.slice(before).find(({ user }) => user.includes("HEARTBEAT.md"));
  expect(beat?.body).toContain("look at the letters");
  expect(beat?.body).not.toContain("w-hello");
  // Four characters a token is how prompts are counted elsewhere.
  expect((beat?.body.length ?? Infinity) / 4).toBeLessThan(2000);
  gateway.model.answers(undefined);
  telegram.say("say w-letters");
  await expect.poll(texts, PATIENCE).toContainEqual(heard("letters"));
  expect(gateway.model.requests.at(-1)?.user).toContain("A heartbeat sent the user this: Two letters came.");
});

test("the main session learns about each alert of several beats outside of it", async () => {
  let alerts = 0;
  gateway.model.answers(({ user }) => (user.includes("HEARTBEAT.md") ? `Alert number ${(alerts += 1)}.` : undefined));
  asks("- look at the alarms\n");
  beats({ every: "1s", isolated: true });
  const sent = (): readonly string[] => texts().filter((text) => text.startsWith("Alert number "));
  await expect.poll(() => sent().length, PATIENCE).toBeGreaterThanOrEqual(3);
  beats({ every: "0m" });
  gateway.model.answers(undefined);
  telegram.say("say w-alarms");
  await expect.poll(texts, PATIENCE).toContainEqual(heard("alarms"));
  const shown = gateway.model.requests.findLast(({ user }) => user.includes("w-alarms"))?.user;
  for (const alert of sent()) expect(shown).toContain(`A heartbeat sent the user this: ${alert}`);
});

test.each(["heartbeat.due", "heartbeat.accepted", "inbox.committed", "turn.started", "outbox.committed", "heartbeat.reported"])(
  "killed at %s, what woke the agent is acted on once, and how it went is reported",
  async (failpoint) => {
    const word = `w-${failpoint.replaceAll(".", "")}`;
    await gateway.stop();
    await gateway.start({ OPENCLAW_FAILPOINT: failpoint });
    await gateway.operator.request("wake", { text: `say ${word}`, mode: "now", idempotencyKey: word }).catch(() => undefined);
    await gateway.ended();
    await gateway.start();
    await expect.poll(() => texts().filter((text) => text.includes(word)).length, PATIENCE).toBe(1);
    await gateway.aside();
    expect(texts().filter((text) => text.includes(word))).toHaveLength(1);
    await expect.poll(last, PATIENCE).toMatchObject({ status: "sent", preview: expect.stringContaining(word) });
  },
);

test("a line that comes while a turn runs is acted on after it, also when a kill interrupts that turn", async () => {
  const started = join(gateway.workspace, "interrupted");
  gateway.model.answers(({ user, body }) => {
    if (!user.includes("w-interrupted")) return undefined;
    const isDone = (body.split("w-interrupted").at(-1) ?? "").includes('"role":"tool"');
    return isDone ? undefined : { text: "", calls: [{ name: "exec", args: { command: `touch ${started}; sleep 60` } }] };
  });
  telegram.say("say w-interrupted");
  await expect.poll(() => existsSync(started), PATIENCE).toBe(true);
  await gateway.operator.request("wake", { text: "say w-meanwhile", mode: "now", idempotencyKey: "meanwhile" });
  await gateway.kill();
  await gateway.start();
  await expect.poll(texts, PATIENCE).toContainEqual(heard("interrupted"));
  await expect.poll(texts, PATIENCE).toContainEqual(heard("meanwhile"));
  expect(askedWith("w-meanwhile")).toBe(1);
});
