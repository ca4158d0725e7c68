import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { manualClock, type ManualClock } from "../../../src/base/clock.ts";
import { startTelegram, type FakeTelegram } from "./index.ts";
import { call, poll } from "./raw-calls.ts";

let telegram: FakeTelegram;
let clock: ManualClock;
beforeEach(async () => {
  clock = manualClock();
  telegram = await startTelegram({ clock });
});
afterEach(() => telegram[Symbol.asyncDispose]());

const ids = (updates: readonly { readonly update_id: number }[]): number[] => updates.map(({ update_id }) => update_id);

describe("getUpdates", () => {
  test("gives what waits, again and again until a higher offset confirms it", async () => {
    const first = telegram.say("one");
    const second = telegram.say("two");
    const [update] = await poll(telegram);
    expect(update).toMatchObject({
      update_id: first.updateId,
      message: { text: "one", message_id: first.messageId, chat: { id: telegram.me.id, type: "private" }, from: { id: telegram.me.id, is_bot: false } },
    });
    expect(ids(await poll(telegram, { offset: first.updateId }))).toEqual([first.updateId, second.updateId]);
    expect(ids(await poll(telegram, { offset: second.updateId }))).toEqual([second.updateId]);
    expect(ids(await poll(telegram)), "what was confirmed is gone for good").toEqual([second.updateId]);
    expect(await poll(telegram, { offset: second.updateId! + 1 })).toEqual([]);
  });

  test("gives at most as many as asked for", async () => {
    const all = [1, 2, 3].map((n) => telegram.say(`n${n}`).updateId);
    expect(ids(await poll(telegram, { limit: 2 }))).toEqual(all.slice(0, 2));
  });

  test("a negative offset forgets all but the last", async () => {
    const all = [1, 2, 3].map((n) => telegram.say(`n${n}`).updateId);
    expect(ids(await poll(telegram, { offset: -1 }))).toEqual(all.slice(2));
    expect(telegram.pending).toBe(1);
  });

  test("waits until something comes", async () => {
    const waiting = poll(telegram, { timeout: 30 });
    await expect.poll(() => telegram.polling).toBe(true);
    const { updateId } = telegram.say("late");
    expect(ids(await waiting)).toEqual([updateId]);
  });

  test("gives nothing when the time is over", async () => {
    const waiting = poll(telegram, { timeout: 30 });
    await expect.poll(() => telegram.polling).toBe(true);
    clock.advance(30_000);
    expect(await waiting).toEqual([]);
  });

  test("a second poller ends the first with 409", async () => {
    const first = call(telegram, "getUpdates", { timeout: 30 });
    await expect.poll(() => telegram.polling).toBe(true);
    const second = call(telegram, "getUpdates", { timeout: 30 });
    expect(await first).toMatchObject({ ok: false, error_code: 409, description: expect.stringContaining("terminated by other getUpdates request") });
    const { updateId } = telegram.say("for the second");
    expect(ids((await second).result as never)).toEqual([updateId]);
  });

  test("a poller that hangs up is no second poller", async () => {
    const gone = new AbortController();
    const first = fetch(`${telegram.apiRoot}/bot${telegram.token}/getUpdates?timeout=30`, { signal: gone.signal });
    await expect.poll(() => telegram.polling).toBe(true);
    gone.abort();
    await expect(first).rejects.toThrow("aborted");
    await expect.poll(() => telegram.polling).toBe(false);
    telegram.say("still there");
    expect(await poll(telegram)).toHaveLength(1);
  });

  test("reactions and members come only to those who ask for them, and a list of kinds is kept", async () => {
    const said = telegram.say("hello");
    expect(telegram.react(said, "👍").updateId).toBeUndefined();
    await poll(telegram, { offset: said.updateId! + 1, allowed_updates: ["message", "message_reaction"] });
    const { updateId } = telegram.react(said, "👎");
    expect(telegram.edit(said, "hello!").updateId, "not in the list").toBeUndefined();
    const [update] = await poll(telegram);
    expect(update).toMatchObject({
      update_id: updateId,
      message_reaction: {
        message_id: said.messageId,
        user: { id: telegram.me.id },
        old_reaction: [{ type: "emoji", emoji: "👍" }],
        new_reaction: [{ emoji: "👎" }],
      },
    });
  });

  test("an update that is redelivered comes once more though it was confirmed", async () => {
    const { updateId } = telegram.say("twice");
    await poll(telegram, { offset: updateId! + 1 });
    telegram.redeliver(updateId!);
    expect(ids(await poll(telegram, { offset: updateId! + 1 }))).toEqual([updateId]);
    expect(await poll(telegram, { offset: updateId! + 1 })).toEqual([]);
  });

  test("what was not confirmed outlives a restart, and a day at most", async () => {
    const { updateId } = telegram.say("kept");
    await telegram.restart();
    expect(ids(await poll(telegram))).toEqual([updateId]);
    clock.advance(86_400_001);
    expect(await poll(telegram)).toEqual([]);
  });

  test("an answer that is lost on its way confirms nothing", async () => {
    const { updateId } = telegram.say("kept");
    telegram.fault("getUpdates", { drop: "after" });
    await expect(poll(telegram)).rejects.toThrow("fetch failed");
    expect(ids(await poll(telegram))).toEqual([updateId]);
  });
});

describe("what people do", () => {
  const last = async (): Promise<Record<string, unknown>> => (await poll(telegram)).at(-1)!;

  test("an edit, with the time of it", async () => {
    telegram.edit(telegram.say("helo"), "hello");
    expect(await last()).toMatchObject({ edited_message: { text: "hello", edit_date: expect.any(Number) as number } });
  });

  test("a command and a mention are marked with their places", async () => {
    telegram.say("/help@claw_test_bot and 🎉 @claw_test_bot");
    expect(await last()).toMatchObject({
      message: {
        entities: [
          { type: "bot_command", offset: 0, length: 19 },
          { type: "mention", offset: 27, length: 14 },
        ],
      },
    });
  });

  test("a message in a topic names it and answers the message that opened it; one in General does neither", async () => {
    const { id } = telegram.group({ forum: true });
    const topic = telegram.topic(id, "Plans");
    telegram.say("in the topic", { chat: id, thread: topic });
    expect(await last()).toMatchObject({
      message: {
        chat: { id, type: "supergroup", is_forum: true },
        message_thread_id: topic,
        is_topic_message: true,
        reply_to_message: { message_id: topic, forum_topic_created: { name: "Plans" } },
      },
    });
    telegram.say("in General", { chat: id });
    expect((await last())["message"]).not.toHaveProperty("message_thread_id");
  });

  test("an album is several messages with one group id", async () => {
    telegram.album(
      [1, 2].map((n) => ({ kind: "photo" as const, data: Buffer.alloc(n), name: `${n}.png` })),
      { caption: "both" },
    );
    const messages = (await poll(telegram)).map((update) => update["message"] as Record<string, unknown>);
    expect(messages.map(({ caption }) => caption)).toEqual(["both", undefined]);
    expect(new Set(messages.map(({ media_group_id }) => media_group_id)).size).toBe(1);
  });

  test("with privacy on, a group's talk is kept from the bot", async () => {
    await using shy = await startTelegram({ privacy: true });
    const { id } = shy.group();
    expect(shy.say("among us", { chat: id }).updateId).toBeUndefined();
    expect(shy.say("hey @claw_test_bot", { chat: id }).updateId).toBeDefined();
    expect((await call(shy, "getMe")).result).toMatchObject({ can_read_all_group_messages: false, is_bot: true, username: "claw_test_bot" });
  });

  test("a group that becomes a supergroup says both ids and can no longer be written to", async () => {
    const old = telegram.group({ type: "group" });
    const next = telegram.migrate(old.id);
    expect(next.id).toBeLessThan(-1_000_000_000_000);
    expect((await poll(telegram)).map((update) => update["message"])).toMatchObject([
      { chat: { id: old.id }, migrate_to_chat_id: next.id },
      { chat: { id: next.id }, migrate_from_chat_id: old.id },
    ]);
    expect(await call(telegram, "sendMessage", { chat_id: old.id, text: "hi" })).toMatchObject({
      error_code: 400,
      description: "Bad Request: group chat was upgraded to a supergroup chat",
      parameters: { migrate_to_chat_id: next.id },
    });
  });

  test("a person joins", async () => {
    const { id } = telegram.group();
    const ada = telegram.person();
    telegram.join(id, ada);
    expect(await last()).toMatchObject({ message: { new_chat_members: [{ id: ada.id }] } });
    expect((await call(telegram, "getChatMember", { chat_id: id, user_id: ada.id })).result).toMatchObject({ status: "member", user: { id: ada.id } });
  });
});

describe("webhook", () => {
  const SECRET = "s3cret_-token";

  /** A bot that answers with these codes, and the last of them from then on. */
  async function bot(
    ...codes: number[]
  ): Promise<AsyncDisposable & { readonly got: { readonly id: number; readonly secret: unknown }[]; readonly url: string }> {
    const got: { id: number; secret: unknown }[] = [];
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const { update_id } = JSON.parse(Buffer.concat(parts).toString()) as { update_id: number };
        got.push({ id: update_id, secret: request.headers["x-telegram-bot-api-secret-token"] });
        response.writeHead(codes.length > 1 ? codes.shift()! : codes[0]!).end();
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    return {
      got,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        server.close();
        await once(server, "close");
      },
    };
  }

  test("brings each update with the secret, in order, and again after a refusal", async () => {
    await using here = await bot(500, 200);
    telegram.webhook.reach("https://bot.example", here.url);
    expect(await call(telegram, "setWebhook", { url: "https://bot.example/hook", secret_token: SECRET })).toMatchObject({
      result: true,
      description: "Webhook was set",
    });
    const all = [telegram.say("one").updateId!, telegram.say("two").updateId!];
    await expect.poll(() => here.got.length).toBe(1);
    await expect.poll(() => telegram.webhook.lastError).toBeDefined();
    expect((await call(telegram, "getWebhookInfo")).result).toMatchObject({
      url: "https://bot.example/hook",
      pending_update_count: 2,
      last_error_message: "Wrong response from the webhook: 500 Internal Server Error",
    });
    clock.advance(50);
    await expect.poll(() => telegram.pending).toBe(0);
    expect(here.got).toEqual([all[0], all[0], all[1]].map((id) => ({ id, secret: SECRET })));
    expect(telegram.webhook.attempts.map(({ status }) => status)).toEqual([500, 200, 200]);
  });

  test("excludes polling, and ends a poll that waits", async () => {
    const waiting = call(telegram, "getUpdates", { timeout: 30 });
    await expect.poll(() => telegram.polling).toBe(true);
    await call(telegram, "setWebhook", { url: "https://bot.example/hook" });
    expect(await waiting).toMatchObject({ error_code: 409, description: "Conflict: terminated by setWebhook request" });
    expect(await call(telegram, "getUpdates")).toMatchObject({ error_code: 409, description: expect.stringContaining("while webhook is active") });
    expect(await call(telegram, "deleteWebhook")).toMatchObject({ result: true, description: "Webhook was deleted" });
    expect(await call(telegram, "getUpdates")).toMatchObject({ ok: true });
  });

  test.each([
    ["http://bot.example/x", "s", "bad webhook: An HTTPS URL must be provided for webhook"],
    ["https://bot.example:8080/x", "s", "bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443"],
    ["https://bot.example/x", "a b", "secret token contains unallowed characters"],
    ["https://bot.example/x", "a".repeat(257), "secret token is too long"],
  ])("refuses %s with the secret %.10s", async (url, secret_token, why) => {
    expect(await call(telegram, "setWebhook", { url, secret_token })).toMatchObject({ error_code: 400, description: `Bad Request: ${why}` });
  });
});
