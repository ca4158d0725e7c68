/** Stops and quick commands beside a plugin's command that takes its time, over a channel and for clients; and who may stop. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { FakeTelegram, User } from "../fakes/telegram/index.ts";
import { startTelegramGateway, type TelegramGateway } from "../security/telegram-gateway.ts";

const LATE = "/hangs finished after it was stopped; its result is dropped";
const SOON = { timeout: 20_000, interval: 20 };

/** `/listens` ends when it is stopped; `/hangs` ends when `/release` is said, whatever happens. Both write down how they ended. */
const SLOW = `
export default function register(api: { [member: string]: any }) {
  const held: (() => void)[] = [];
  const slow = (name: string, run: (ctx: any) => Promise<unknown>) =>
    api.registerCommand({ name, description: "slow", requireAuth: false, handler: (ctx: any) => { api.logger.info(name + " begins in " + ctx.sessionKey); return run(ctx); } });
  slow("listens", ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => { api.logger.info("listens heard the stop"); reject(signal.reason); })));
  slow("hangs", () => new Promise((resolve) => held.push(() => resolve({ text: "too late" }))));
  api.registerCommand({ name: "release", description: "d", requireAuth: false, handler: () => { for (const end of held.splice(0)) end(); return { text: "released" }; } });
}`;

let at: TelegramGateway;
let folder: string;
let paula: User;
let group: ReturnType<FakeTelegram["group"]>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "slow-plugin-"));
  mkdirSync(join(folder, "slow"));
  writeFileSync(join(folder, "slow", "openclaw.plugin.json"), JSON.stringify({ id: "slow", configSchema: { type: "object" } }));
  writeFileSync(join(folder, "slow", "index.ts"), SLOW);
  at = await startTelegramGateway(
    (telegram) => {
      paula = telegram.person({ first_name: "Paula" });
      telegram.direct(paula);
      group = telegram.group({ title: "Team" });
      return {
        dmPolicy: "allowlist",
        allowFrom: [telegram.me.id, paula.id],
        groups: { "*": { requireMention: true } },
        groupPolicy: "open",
        streamMode: "off",
      };
    },
    {
      session: { dmScope: "per-channel-peer" },
      commands: { ownerAllowFrom: ["telegram:1"] },
      plugins: { load: { paths: [join(folder, "slow")] }, entries: { slow: { enabled: true }, telegram: { enabled: true } } },
    },
  );
  await vi.waitUntil(() => at.telegram.polling, SOON);
}, 60_000);

afterAll(async () => {
  await at?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const heard = (chatId: number): readonly string[] =>
  at.telegram
    .messages(chatId)
    .filter(({ byBot }) => byBot)
    .map(({ text }) => text);
const times = (text: string): number => at.gateway.output().split(text).length - 1;
const begun = (name: string): number => times(`${name} begins in`);

let sent = 0;
const send = async (message: string, sessionKey = "agent:main:slow"): Promise<string> => {
  const idempotencyKey = `slow-${(sent += 1)}`;
  expect(await at.gateway.operator.request("chat.send", { sessionKey, message, idempotencyKey })).toMatchObject({ ok: true });
  return idempotencyKey;
};
const ended = async (runId: string) => (await at.gateway.operator.request("agent.wait", { runId, timeoutMs: 20_000 })).payload;

test.each(["/stop", "stop"])("%s of a client ends a plugin's command that listens, and what waits behind it, at once", async (word) => {
  const before = times("listens heard the stop");
  const runs = begun("listens");
  const run = await send("/listens");
  await expect.poll(() => begun("listens"), SOON).toBe(runs + 1);
  const waits = await send("never asked");
  const stopped = await at.gateway.operator.request("chat.send", { sessionKey: "agent:main:slow", message: word, idempotencyKey: `stop-${(sent += 1)}` });
  expect(stopped.payload).toMatchObject({ ok: true, aborted: true, runIds: [run, waits] });
  for (const runId of [run, waits]) {
    const final = await at.gateway.operator.next(({ event, payload }) => event === "chat" && payload?.["runId"] === runId && payload["state"] !== "delta");
    expect(final.payload).toMatchObject({ state: "aborted" });
  }
  await expect.poll(() => times("listens heard the stop"), SOON).toBe(before + 1);
  expect(at.gateway.model.requests.some(({ user }) => user.includes("never asked"))).toBe(false);
});

test("chat.abort ends a plugin's command that does not listen; its late result is dropped and logged", async () => {
  const runs = begun("hangs");
  const run = await send("/hangs");
  await expect.poll(() => begun("hangs"), SOON).toBe(runs + 1);
  const aborted = await at.gateway.operator.request("chat.abort", { sessionKey: "agent:main:slow" });
  expect(aborted.payload).toEqual({ ok: true, aborted: true, runIds: [run] });
  // Before anything made the handler end.
  await at.gateway.operator.next(({ event, payload }) => event === "chat" && payload?.["runId"] === run && payload["state"] === "aborted");
  const late = times(LATE);
  expect(await ended(await send("/release"))).toMatchObject({ status: "ok" });
  await expect.poll(() => times(LATE), SOON).toBeGreaterThan(late);
  const { messages } = (await at.gateway.operator.request("chat.history", { sessionKey: "agent:main:slow" })).payload as { messages: readonly unknown[] };
  expect(JSON.stringify(messages)).not.toContain("too late");
});

test("quick commands of a client are answered while a plugin's command runs; others wait for it", async () => {
  const runs = begun("hangs");
  const slow = await send("/hangs");
  await expect.poll(() => begun("hangs"), SOON).toBe(runs + 1);
  const setting = await send("/think high");
  for (const quick of ["/status", "/help", "/whoami", "/trace"]) expect([quick, await ended(await send(quick))]).toMatchObject([quick, { status: "ok" }]);
  const state = (runId: string) => at.gateway.operator.request("agent.wait", { runId, timeoutMs: 1 });
  expect((await state(setting)).payload).toMatchObject({ status: "timeout" });
  expect((await state(slow)).payload).toMatchObject({ status: "timeout" });
  await at.gateway.operator.request("chat.abort", { sessionKey: "agent:main:slow", runId: slow });
  expect(await ended(setting)).toMatchObject({ status: "ok" });
});

test("in a chat, a user who may not give commands stops a plugin's command and what waits behind it", async () => {
  const { telegram } = at;
  const count = heard(paula.id).length;
  const runs = begun("hangs");
  telegram.say("/hangs", { from: paula });
  await expect.poll(() => begun("hangs"), SOON).toBe(runs + 1);
  telegram.say("w-waits", { from: paula });
  telegram.say("stop", { from: paula });
  await expect.poll(() => heard(paula.id).slice(count), SOON).toEqual(["Stopped. Also dropped 1 waiting message."]);
  telegram.say("w-later", { from: paula });
  await expect.poll(() => heard(paula.id).at(-1), SOON).toBe("Heard w-later.");
  expect(at.gateway.model.requests.some(({ user }) => user.includes("w-waits"))).toBe(false);
});

test("a sender who is no owner stops the turn that answers them, in a direct chat and, by the command, unmentioned in a group", async () => {
  const { telegram, gateway } = at;
  gateway.model.holds(({ user }) => user.includes("w-hold"));
  telegram.say("w-hold", { from: paula });
  await expect.poll(() => gateway.model.requests.filter(({ user }) => user.includes("w-hold")).length, SOON).toBe(1);
  telegram.say("/stop", { from: paula });
  await expect.poll(() => heard(paula.id).at(-1), SOON).toBe("Stopped.");
  const bot = `@${telegram.bot.username}`;
  telegram.say(`${bot} w-hold`, { from: paula, chat: group.id });
  await expect.poll(() => gateway.model.requests.filter(({ user }) => user.includes("w-hold")).length, SOON).toBe(2);
  // Said to people, not to us.
  telegram.say("stop", { from: paula, chat: group.id });
  telegram.say("/stop", { from: paula, chat: group.id });
  await expect.poll(() => heard(group.id), SOON).toEqual(["Stopped."]);
  gateway.model.holds(undefined);
});
