/** A command that was accepted and not carried out when the process was killed is carried out after the next start, and never shown to a model. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

let telegram: FakeTelegram;
let gateway: LabGateway;

beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] };
  gateway = await startLabGateway({
    build: "dist-test",
    sections: { channels: { telegram: own }, session: { dmScope: "per-channel-peer" }, commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});

async function entryOf(key: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { payload } = await gateway.operator.request("sessions.list", { search: key, limit: 5 });
  if (!(payload!["sessions"] as readonly { key: string }[]).some((session) => session.key === key)) return undefined;
  return (await gateway.operator.request("sessions.patch", { key })).payload!["entry"] as Readonly<Record<string, unknown>>;
}

/** Lets the process die at a place while it treats a message, and starts it again. */
async function killedAt(failpoint: string, write: () => unknown): Promise<void> {
  await gateway.stop();
  await gateway.start({ OPENCLAW_FAILPOINT: failpoint });
  void Promise.resolve(write()).catch(() => {});
  expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
  await gateway.start();
}

/** What a model was asked since. */
const askedSince = (from: number): readonly string[] => gateway.model.requests.slice(from).map(({ user }) => user);

const chat = (sessionKey: string, message: string) => () => gateway.operator.request("chat.send", { sessionKey, message, idempotencyKey: `${sessionKey}-run` });
const call = (sessionKey: string, message: string) => () => gateway.operator.request("agent", { sessionKey, message, idempotencyKey: `${sessionKey}-run` });

test.each([
  ["chat.send", chat],
  ["agent", call],
])("over %s, killed between acceptance and execution: a setting is stored, and no model is asked", async (way, write) => {
  const key = `agent:main:set-${way}`;
  const from = gateway.model.requests.length;
  await killedAt("inbox.committed", write(key, "/think high"));
  await expect.poll(async () => (await entryOf(key))?.["thinkingLevel"], PATIENCE).toBe("high");
  expect((await gateway.operator.request("agent.wait", { runId: `${key}-run`, timeoutMs: 15_000 })).payload).toMatchObject({ status: "ok" });
  expect(askedSince(from)).toEqual([]);
});

test.each([
  ["chat.send", chat],
  ["agent", call],
])("over %s, killed before and after its turn began: /new is carried out, and its text alone is the prompt", async (way, write) => {
  for (const failpoint of ["inbox.committed", "turn.started"]) {
    const key = `agent:main:new-${way}-${failpoint}`;
    const from = gateway.model.requests.length;
    await killedAt(failpoint, write(key, "/new say w-fresh"));
    expect((await gateway.operator.request("agent.wait", { runId: `${key}-run`, timeoutMs: 15_000 })).payload).toMatchObject({ status: "ok" });
    expect(askedSince(from).filter((user) => user.includes("w-fresh"))).not.toEqual([]);
    expect(askedSince(from).filter((user) => user.includes("/new"))).toEqual([]);
  }
});

test("over Telegram the same", async () => {
  const key = `agent:main:telegram:direct:${telegram.me.id}`;
  const heard = (word: string): number => telegram.messages(telegram.me.id).filter(({ byBot, text }) => byBot && text.includes(word)).length;
  for (const [failpoint, level] of [
    ["inbox.committed", "high"],
    ["turn.started", "low"],
  ] as const) {
    const from = gateway.model.requests.length;
    if (failpoint === "inbox.committed") {
      await killedAt(failpoint, () => telegram.say(`/think ${level}`));
      await expect.poll(async () => (await entryOf(key))?.["thinkingLevel"], PATIENCE).toBe(level);
      expect(askedSince(from)).toEqual([]);
    } else {
      await killedAt(failpoint, () => telegram.say(`/new say w-tele`));
      await expect.poll(() => heard("w-tele"), PATIENCE).toBe(1);
      expect(askedSince(from).filter((user) => user.includes("/new"))).toEqual([]);
    }
  }
});

test("what a command changed is a note for its own session, and for no other", async () => {
  const ask = async (sessionKey: string, message: string, run: string): Promise<void> => {
    await gateway.operator.request("chat.send", { sessionKey, message, idempotencyKey: run });
    expect((await gateway.operator.request("agent.wait", { runId: run, timeoutMs: 15_000 })).payload).toMatchObject({ status: "ok" });
  };
  const from = gateway.model.requests.length;
  await ask("agent:main:noted", "say w-before", "noted-1");
  await ask("agent:main:noted", "/reasoning on", "noted-2");
  await ask("agent:main:main", "say w-main", "noted-3");
  await ask("agent:main:noted", "say w-after", "noted-4");
  const [, main, noted] = gateway.model.requests.slice(from).map(({ user }) => user);
  expect(main).not.toContain("Reasoning is now");
  expect(noted).toContain("Reasoning is now shown.");
});
