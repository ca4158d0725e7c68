/** Two sessions that write to each other, in a gateway that is killed at every step of it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { ModelRequest } from "../conformance/channels/lab-model.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

let telegram: FakeTelegram;
let gateway: LabGateway;
let chat: string;

beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] };
  gateway = await startLabGateway({
    build: "dist-test",
    sections: {
      channels: { telegram: own },
      session: { dmScope: "per-channel-peer", agentToAgent: { maxPingPongTurns: 2 } },
      tools: { sessions: { visibility: "all" } },
    },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
  chat = `agent:main:telegram:direct:${telegram.me.id}`;
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});

const texts = (): readonly string[] => telegram.messages(telegram.me.id).map(({ text }) => text);
async function call<T>(method: string, params: object): Promise<T> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  expect({ ok, error }).toMatchObject({ ok: true });
  return payload as T;
}
async function heard(sessionKey: string, role: "user" | "assistant", word: string): Promise<number> {
  const { messages } = await call<{ messages: readonly { role: string; content: unknown }[] }>("chat.history", { sessionKey, limit: 1000 });
  return messages.filter((message) => message.role === role && JSON.stringify(message.content).includes(word)).length;
}
const lastRole = ({ body }: ModelRequest): string | undefined => (JSON.parse(body) as { messages: readonly { role: string }[] }).messages.at(-1)?.role;

/** One session writes to the chat's; they answer each other twice; then the chat gets what came of it. */
function exchanging(word: string): void {
  gateway.model.answers((request) => {
    const { user } = request;
    if (user.includes("The exchange with the other session is over.")) return `announced ${word}`;
    const said = new RegExp(`(ping|pong0|pong1) ${word}`).exec(user)?.[1];
    if (said !== undefined) return `${{ ping: "pong0", pong0: "pong1", pong1: "pong2" }[said]} ${word}`;
    if (!user.includes(`begin ${word}`)) return undefined;
    if (lastRole(request) === "tool") return `sent ${word}`;
    return { text: "", calls: [{ name: "sessions_send", args: { sessionKey: chat, message: `ping ${word}`, timeoutSeconds: 20 } }] };
  });
}

test.each([
  "exchange.accepted",
  "exchange.asked:1",
  "exchange.answered:1",
  "exchange.asked:2",
  "exchange.answered:2",
  "exchange.asked:3",
  "exchange.answered:3",
  "exchange.ended",
])("killed at %s, an exchange goes on to its end and every message of it is there once", async (failpoint) => {
  const word = `w-${failpoint.replaceAll(/[^a-z0-9]/g, "")}`;
  const one = `agent:main:${word}`;
  exchanging(word);
  telegram.say(`${word}hello`);
  await expect.poll(texts, PATIENCE).toContain(`Heard ${word}hello.`);
  await gateway.stop();
  await gateway.start({ OPENCLAW_FAILPOINT: failpoint });
  const message = { sessionKey: one, message: `begin ${word}`, idempotencyKey: `begin-${word}` };
  await call("chat.send", message).catch(() => {});
  expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
  await gateway.start();
  await call("chat.send", message);
  await expect.poll(texts, PATIENCE).toContain(`announced ${word}`);
  await expect.poll(() => heard(one, "assistant", `sent ${word}`), PATIENCE).toBe(1);
  await gateway.aside();
  const counts = [
    await heard(chat, "user", `ping ${word}`),
    await heard(one, "user", `pong0 ${word}`),
    await heard(chat, "user", `pong1 ${word}`),
    await heard(chat, "assistant", `pong2 ${word}`),
    texts().filter((text) => text === `announced ${word}`).length,
  ];
  expect(counts).toEqual([1, 1, 1, 1, 1]);
});

test("a session that answers ANNOUNCE_SKIP after an exchange posts nothing in its chat", async () => {
  const word = "w-unannounced";
  telegram.say(`${word}hello`);
  await expect.poll(texts, PATIENCE).toContain(`Heard ${word}hello.`);
  const inner = gateway.model.requests.length;
  gateway.model.answers((request) => {
    const { user } = request;
    if (user.includes("The exchange with the other session is over.")) return "ANNOUNCE_SKIP";
    if (user.includes(`ping ${word}`)) return `pong ${word}`;
    if (user.includes(`pong ${word}`)) return "REPLY_SKIP";
    if (!user.includes(`begin ${word}`)) return undefined;
    if (lastRole(request) === "tool") return `sent ${word}`;
    return { text: "", calls: [{ name: "sessions_send", args: { sessionKey: chat, message: `ping ${word}`, timeoutSeconds: 20 } }] };
  });
  const before = texts().length;
  await call("chat.send", { sessionKey: `agent:main:${word}`, message: `begin ${word}`, idempotencyKey: `begin-${word}` });
  const announced = (): number =>
    gateway.model.requests.slice(inner).filter(({ user }) => user.includes("The exchange with the other session is over.")).length;
  await expect.poll(announced, PATIENCE).toBe(1);
  await gateway.aside();
  await expect.poll(() => gateway.isDelivered(), PATIENCE).toBe(true);
  expect(texts().slice(before)).toEqual([]);
});

test("an exchange that has ended is not begun again by the next process", async () => {
  const before = gateway.model.requests.length;
  await gateway.stop();
  await gateway.start();
  await gateway.aside();
  expect(gateway.model.requests.slice(before).filter(({ user }) => user.includes("exchange"))).toEqual([]);
});
