/** Lines about jobs that failed: they wait until a turn has them whose answer reaches someone. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
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
    sections: { channels: { telegram: own }, commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});
beforeEach(() => gateway.model.answers(undefined));

async function call<T>(method: string, params: object): Promise<T> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  expect({ ok, error }).toMatchObject({ ok: true });
  return payload as T;
}
const every = { schedule: { kind: "every", everyMs: 86_400_000 }, wakeMode: "now" } as const;

async function runOnce(job: object): Promise<void> {
  const { id } = await call<{ id: string }>("cron.add", { name: "once", ...every, ...job });
  await call("cron.run", { id });
  await call("cron.remove", { id });
}
const reminder = (text: string, more: object = {}) => runOnce({ sessionTarget: "main", payload: { kind: "systemEvent", text }, ...more });
/** A job that fails, which its owner wants to know after the first failure. */
const fail = (name: string): Promise<void> =>
  runOnce({ name, sessionTarget: "isolated", alertAfter: 1, payload: { kind: "agentTurn", message: "x", model: "nobody/none" }, delivery: { mode: "none" } });

/** Whether the request with this word in its last message had the line about a job. */
const had = (word: string, name: string): boolean | undefined =>
  gateway.model.requests.findLast(({ user }) => user.includes(word))?.user.includes(`The scheduled job "${name}"`);

async function write(word: string): Promise<void> {
  await call("chat.send", { sessionKey: "main", message: `say ${word}`, idempotencyKey: word });
  await expect.poll(() => gateway.model.requests.some(({ user }) => user.includes(word)), PATIENCE).toBe(true);
  await expect.poll(async () => JSON.stringify(await call("chat.history", { sessionKey: "main", limit: 5 })), PATIENCE).toContain(`Heard ${word}`);
}

test("a reminder that reaches no chat leaves the line about a failed job to the owner's next message", async () => {
  await fail("backup");
  await reminder("say w-unheard");
  expect(had("w-unheard", "backup")).toBe(false);
  await reminder("say w-unheardagain");
  expect(had("w-unheardagain", "backup")).toBe(false);
  await write("w-first");
  expect(had("w-first", "backup")).toBe(true);
  await write("w-second");
  expect(had("w-second", "backup")).toBe(false);
});

test("a turn that was stopped, or a new session, does not use the line up", async () => {
  await fail("report");
  gateway.model.holds(({ user }) => user.includes("w-stopped"));
  await call("chat.send", { sessionKey: "main", message: "say w-stopped", idempotencyKey: "w-stopped" });
  await expect.poll(() => had("w-stopped", "report"), PATIENCE).toBe(true);
  await call("chat.abort", { sessionKey: "main" });
  gateway.model.holds(undefined);
  await call("sessions.reset", { key: "main" });
  await write("w-after");
  expect(had("w-after", "report")).toBe(true);
});

test("a reminder for a chat uses the line up when something is sent there, and not when the agent has nothing to say", async () => {
  const delivery = { mode: "none", channel: "telegram", to: String(telegram.me.id) };
  await fail("sync");
  gateway.model.answers(({ user }) => (user.includes("w-quiet") ? "NO_REPLY" : undefined));
  await reminder("say w-quiet", { delivery });
  expect(had("w-quiet", "sync")).toBe(true);
  await reminder("say w-shown", { delivery });
  expect(had("w-shown", "sync")).toBe(true);
  await expect
    .poll(
      () =>
        telegram
          .messages(telegram.me.id)
          .map(({ text }) => text)
          .join(),
      PATIENCE,
    )
    .toContain("Heard w-shown");
  await write("w-last");
  expect(had("w-last", "sync")).toBe(false);
});
