import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { MethodName } from "../../src/protocol/index.ts";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startPerson, type Person } from "../fakes/irc/person.ts";
import { startNgircd } from "../fakes/ngircd.ts";
import type { FakeTelegram } from "../fakes/telegram/index.ts";
import { startTelegramGateway, type TelegramGateway } from "../security/telegram-gateway.ts";

const PATIENCE = { timeout: 15_000, interval: 25 };

async function asked(gateway: LabGateway, method: MethodName, params: object): Promise<Record<string, unknown>> {
  const { ok, payload, error } = await gateway.operator.ask(method, params);
  if (!ok) throw new Error(`${method}: ${error?.code}: ${error?.message}`);
  return payload!;
}

const isUp = async (gateway: LabGateway, channel: string): Promise<boolean> => (await gateway.account(channel))?.connected === true;

let runs = 0;
/** Has the agent say a word over a channel, and waits until it is written down to be sent. */
async function answered(gateway: LabGateway, channel: string, to: string, word: string): Promise<void> {
  const idempotencyKey = `run-${(runs += 1)}`;
  await asked(gateway, "agent", { message: `say ${word}`, sessionKey: `agent:main:${word}`, deliver: true, channel, to, idempotencyKey });
  await asked(gateway, "agent.wait", { runId: idempotencyKey, timeoutMs: 15_000 });
  await expect.poll(async () => JSON.stringify(await asked(gateway, "why", { what: idempotencyKey })), PATIENCE).toContain('"kind":"delivery"');
}

describe("Telegram", () => {
  let place: TelegramGateway;
  let telegram: FakeTelegram;
  let gateway: LabGateway;
  beforeAll(async () => {
    place = await startTelegramGateway(() => ({ dmPolicy: "pairing", streamMode: "off" }));
    ({ telegram, gateway } = place);
  });
  beforeEach(async () => {
    await expect.poll(() => isUp(gateway, "telegram"), PATIENCE).toBe(true);
  });
  afterAll(() => place[Symbol.asyncDispose]());

  const said = (chatId: number): readonly string[] =>
    telegram
      .messages(chatId)
      .filter(({ byBot }) => byBot)
      .map(({ text }) => text ?? "");
  const codes = (chatId: number): readonly string[] => said(chatId).flatMap((text) => /Pairing code: (\w+)/.exec(text)?.[1] ?? []);
  const count = (chatId: number, word: string): number => said(chatId).filter((text) => text.includes(word)).length;

  /** A user who writes and is approved. */
  async function letIn(): Promise<number> {
    const { id } = telegram.me;
    telegram.say("hello");
    await expect.poll(() => codes(id).length, PATIENCE).toBeGreaterThan(0);
    await asked(gateway, "channels.pairing.approve", { channel: "telegram", code: codes(id).at(-1)! });
    return id;
  }

  test("stopped by hand it fetches and sends nothing; what waited comes once when it is started", async () => {
    const chat = telegram.me.id;
    expect(await asked(gateway, "channels.stop", { channel: "telegram" })).toEqual({
      channel: "telegram",
      accountId: "default",
      running: false,
      stoppedByHand: true,
    });
    await expect.poll(() => telegram.polling, PATIENCE).toBe(false);
    expect(await gateway.account("telegram")).toMatchObject({ running: false, stoppedByHand: true });
    await answered(gateway, "telegram", String(chat), "w-first");
    await answered(gateway, "telegram", String(chat), "w-second");
    expect([count(chat, "w-first"), count(chat, "w-second"), telegram.polling]).toEqual([0, 0, false]);
    expect(await asked(gateway, "channels.start", { channel: "telegram", accountId: "default" })).toMatchObject({ running: true });
    await expect.poll(() => [count(chat, "w-first"), count(chat, "w-second")], PATIENCE).toEqual([1, 1]);
    await expect.poll(() => isUp(gateway, "telegram"), PATIENCE).toBe(true);
    expect((await gateway.account("telegram"))?.stoppedByHand).toBeUndefined();
  });

  test("what waited is sent once also when the gateway ends meanwhile: with it the account starts", async () => {
    const chat = telegram.me.id;
    await asked(gateway, "channels.stop", { channel: "telegram" });
    await answered(gateway, "telegram", String(chat), "w-kept");
    expect(count(chat, "w-kept")).toBe(0);
    await gateway.stop();
    expect(count(chat, "w-kept")).toBe(0);
    await gateway.start();
    await expect.poll(() => count(chat, "w-kept"), PATIENCE).toBe(1);
    await expect.poll(() => isUp(gateway, "telegram"), PATIENCE).toBe(true);
  });

  test("who was let in and is removed is a stranger at the next message", async () => {
    const chat = await letIn();
    telegram.say("and w-known?");
    await expect.poll(() => count(chat, "w-known"), PATIENCE).toBe(1);
    const { senders } = (await asked(gateway, "channels.pairing.allowed", { channel: "telegram" })) as { senders: readonly object[] };
    expect(senders).toEqual([
      { channel: "telegram", accountId: "default", senderId: String(chat), source: "pairing", addedAtMs: expect.any(Number) as number },
    ]);
    expect(await asked(gateway, "channels.pairing.revoke", { channel: "telegram", senderId: String(chat) })).toEqual({
      channel: "telegram",
      accountId: "default",
      senderId: String(chat),
    });
    const before = codes(chat).length;
    telegram.say("and w-gone?");
    await expect.poll(() => codes(chat).length, PATIENCE).toBe(before + 1);
    expect(count(chat, "w-gone")).toBe(0);
    expect(gateway.model.requests.some(({ user }) => user.includes("w-gone"))).toBe(false);
    await expect(asked(gateway, "channels.pairing.revoke", { channel: "telegram", senderId: String(chat) })).rejects.toThrow("was not approved by pairing");
  });

  test("the command line does the same", async () => {
    expect(await gateway.cli("channels", "stop", "telegram")).toMatchObject({
      code: 0,
      output: expect.stringContaining("telegram account default is stopped") as string,
    });
    expect((await gateway.cli("channels", "status")).output).toContain("stopped manually");
    expect(await gateway.cli("channels", "restart", "telegram", "--json")).toMatchObject({ code: 0 });
    await expect.poll(() => isUp(gateway, "telegram"), PATIENCE).toBe(true);
    expect(await gateway.cli("channels", "start", "telegram")).toMatchObject({ code: 0 });
    expect(await gateway.cli("channels", "start", "nothing")).toMatchObject({ code: 1, output: expect.stringContaining('no channel "nothing"') as string });
  });
});

/** A real server, a user on it, and the bot. */
interface IrcPlace extends AsyncDisposable {
  readonly olga: Person;
  readonly gateway: LabGateway;
}

async function ircPlace(): Promise<IrcPlace> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startNgircd());
  const olga = stack.use(await startPerson({ port: server.port, nick: "olga" }));
  const irc = { enabled: true, host: "127.0.0.1", port: server.port, tls: false, nick: "claw", dmPolicy: "allowlist", allowFrom: ["olga@127.0.0.1"] };
  const gateway = stack.use(await startLabGateway({ sections: { channels: { irc } } }));
  await expect.poll(() => isUp(gateway, "irc"), PATIENCE).toBe(true);
  const kept = stack.move();
  return { olga, gateway, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Asks the server who is there. */
async function isThere(olga: Person, nick: string): Promise<boolean> {
  const from = olga.heard.length;
  olga.write(`ISON ${nick}`);
  await olga.settled();
  return olga.heard.slice(from).some(({ command, params }) => command === "303" && (params.at(-1) ?? "").trim() === nick);
}

test("IRC: stopped by hand it leaves the server; what waited is said once when it is back; a restart is another connection", async () => {
  await using place = await ircPlace();
  const { olga, gateway } = place;
  const heard = (word: string): number => olga.texts("claw").filter((text) => text.includes(word)).length;
  expect(await isThere(olga, "claw")).toBe(true);
  await asked(gateway, "channels.stop", { channel: "irc" });
  await expect.poll(() => isThere(olga, "claw"), PATIENCE).toBe(false);
  await answered(gateway, "irc", "olga", "w-later");
  expect(heard("w-later")).toBe(0);
  await asked(gateway, "channels.start", { channel: "irc" });
  await expect.poll(() => heard("w-later"), PATIENCE).toBe(1);
  const before = (await gateway.account("irc"))?.lastStartAt ?? 0;
  await asked(gateway, "channels.start", { channel: "irc", restart: true });
  await expect.poll(() => isUp(gateway, "irc"), PATIENCE).toBe(true);
  expect((await gateway.account("irc"))?.lastStartAt).toBeGreaterThan(before);
  olga.say("claw", "and w-again?");
  await expect.poll(() => heard("w-again"), PATIENCE).toBe(1);
  expect(heard("w-later")).toBe(1);
});
