/** The fake, asked with plain requests as its documentation describes them. */
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type FakeSlack, startSlack, type User } from "./index.ts";

let slack: FakeSlack;
let ada: User;
let chatId: string;
beforeEach(async () => {
  slack = await startSlack({ ackMs: 100 });
  ada = slack.world.person("ada");
  chatId = slack.world.conversation("channel", "general", [ada.id, slack.world.bot.id]).id;
});
afterEach(() => slack[Symbol.asyncDispose]());

async function ask(method: string, args: Record<string, string> = {}, token: string | null = slack.botToken): Promise<Record<string, unknown>> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${slack.apiRoot}/${method}`, { method: "POST", body: new URLSearchParams(args), headers });
  return { status: response.status, ...((await response.json()) as object) };
}

interface Envelope {
  readonly type: string;
  readonly envelope_id?: string;
  readonly retry_attempt?: number;
  readonly payload?: { readonly event?: { readonly text?: string } };
  readonly reason?: string;
  readonly num_connections?: number;
}

async function connect(address?: string) {
  const url = address ?? String((await ask("apps.connections.open", {}, slack.appToken))["url"]);
  const socket = new WebSocket(url);
  const got: Envelope[] = [];
  socket.on("message", (data: Buffer) => got.push(JSON.parse(data.toString("utf8")) as Envelope));
  await once(socket, "open");
  return { url, got, ack: (id: string) => socket.send(JSON.stringify({ envelope_id: id })), close: () => socket.close() };
}

describe("the Web API", () => {
  test.each([
    ["no token", "auth.test", {}, null, { ok: false, error: "not_authed" }],
    ["a wrong token", "auth.test", {}, "xoxb-nope", { ok: false, error: "invalid_auth" }],
    ["a method that is none", "chat.shout", {}, undefined, { ok: false, error: "unknown_method" }],
    ["an app token is asked for", "apps.connections.open", {}, undefined, { ok: false, error: "not_allowed_token_type" }],
    ["no such channel", "chat.postMessage", { channel: "C0NOPE0000", text: "x" }, undefined, { ok: false, error: "channel_not_found" }],
    ["no such person", "conversations.open", { users: "U0NOPE0000" }, undefined, { ok: false, error: "user_not_found" }],
    ["a missing argument", "reactions.add", { name: "x" }, undefined, { ok: false, error: "channel_not_found" }],
    ["an empty file", "files.getUploadURLExternal", { filename: "a", length: "0" }, undefined, { ok: false, error: "invalid_arguments" }],
  ] as const)("refuses: %s", async (_, method, args, token, answer) => {
    expect(await ask(method, args, token)).toMatchObject({ status: 200, ...answer });
  });

  test("refuses texts and blocks that are too long, and empty ones", async () => {
    const post = (more: Record<string, string>) => ask("chat.postMessage", { channel: chatId, ...more });
    expect(await post({})).toMatchObject({ error: "no_text" });
    expect(await post({ text: "x".repeat(40_001) })).toMatchObject({ error: "msg_too_long" });
    expect(await post({ blocks: JSON.stringify([{ type: "section", text: { type: "mrkdwn", text: "x".repeat(3001) } }]) })).toMatchObject({
      error: "invalid_blocks",
    });
    expect(await post({ blocks: JSON.stringify(Array.from({ length: 51 }, () => ({ type: "divider" }))) })).toMatchObject({ error: "invalid_blocks" });
    expect(await post({ blocks: "{" })).toMatchObject({ error: "invalid_blocks_format" });
    const { ts } = await post({ text: "fine" });
    expect(await ask("chat.update", { channel: chatId, ts: String(ts), text: "x".repeat(4001) })).toMatchObject({ error: "msg_too_long" });
    expect(await post({ text: "x", thread_ts: "1.2" })).toMatchObject({ error: "invalid_thread_ts" });
  });

  test("methods that read see no JSON", async () => {
    const headers = { authorization: `Bearer ${slack.botToken}`, "content-type": "application/json" };
    const response = await fetch(`${slack.apiRoot}/conversations.info`, { method: "POST", body: JSON.stringify({ channel: chatId }), headers });
    expect(await response.json()).toMatchObject({ ok: false });
    expect(await (await fetch(`${slack.apiRoot}/conversations.info?channel=${chatId}`, { headers })).json()).toMatchObject({ ok: true });
  });

  test("a stream takes text until it is stopped, and edits only then", async () => {
    const root = slack.world.post({ channel: chatId, text: "q", user: ada.id }).ts;
    expect(await ask("chat.startStream", { channel: chatId, thread_ts: root })).toMatchObject({ error: "missing_recipient_user_id" });
    const { ts } = await ask("chat.startStream", {
      channel: chatId,
      thread_ts: root,
      recipient_user_id: ada.id,
      recipient_team_id: slack.world.team.id,
      markdown_text: "a",
    });
    await ask("chat.appendStream", { channel: chatId, ts: String(ts), markdown_text: "b" });
    expect(await ask("chat.update", { channel: chatId, ts: String(ts), text: "x" })).toMatchObject({ error: "streaming_state_conflict" });
    await ask("chat.stopStream", { channel: chatId, ts: String(ts) });
    expect(await ask("chat.appendStream", { channel: chatId, ts: String(ts), markdown_text: "c" })).toMatchObject({ error: "message_not_in_streaming_state" });
    expect(slack.world.find(chatId, String(ts))!.text).toBe("ab");
  });

  test("a file goes up in three steps, and comes down with a token only", async () => {
    const { upload_url: url, file_id: id } = await ask("files.getUploadURLExternal", { filename: "a.txt", length: "5" });
    expect(await ask("files.completeUploadExternal", { files: JSON.stringify([{ id }]), channel_id: chatId })).toMatchObject({ error: "file_not_found" });
    expect((await fetch(String(url), { method: "POST", body: "four" })).status).toBe(400);
    expect((await fetch(String(url), { method: "POST", body: "words" })).status).toBe(200);
    const done = await ask("files.completeUploadExternal", { files: JSON.stringify([{ id }]), channel_id: chatId, initial_comment: "see" });
    const [file] = done["files"] as { url_private: string }[];
    expect(await (await fetch(file!.url_private, { headers: { authorization: `Bearer ${slack.botToken}` } })).text()).toBe("words");
    expect(await (await fetch(file!.url_private)).text()).toContain("Sign in");
  });

  test("the history is newest first, a thread oldest first with its first message, and neither shows what one person sees", async () => {
    const { ts: root } = await ask("chat.postMessage", { channel: chatId, text: "root" });
    await ask("chat.postMessage", { channel: chatId, text: "reply", thread_ts: String(root) });
    await ask("chat.postMessage", { channel: chatId, text: "later" });
    await ask("chat.postEphemeral", { channel: chatId, user: ada.id, text: "psst" });
    const texts = (answer: Record<string, unknown>) => (answer["messages"] as { text: string }[]).map(({ text }) => text);
    expect(texts(await ask("conversations.history", { channel: chatId }))).toEqual(["later", "root"]);
    expect(texts(await ask("conversations.history", { channel: chatId, oldest: String(root) }))).toEqual(["later"]);
    expect(texts(await ask("conversations.replies", { channel: chatId, ts: String(root) }))).toEqual(["root", "reply"]);
  });
});

describe("Socket Mode", () => {
  test("an address is good for one connection, which is greeted", async () => {
    const { url, got } = await connect();
    await expect.poll(() => got[0]).toMatchObject({ type: "hello", num_connections: 1 });
    await expect(connect(url)).rejects.toThrow(/401/);
    const second = await connect();
    await expect.poll(() => second.got[0]).toMatchObject({ type: "hello", num_connections: 2 });
  });

  test("what is not acknowledged comes again, with its count, until it is", async () => {
    const { got, ack } = await connect();
    const { events } = slack.people.say("hello", { by: ada, channel: chatId });
    const envelopes = () => got.filter(({ type }) => type === "events_api");
    await expect
      .poll(() =>
        envelopes()
          .map(({ retry_attempt: n }) => n)
          .slice(0, 2),
      )
      .toEqual([0, 1]);
    ack(envelopes().at(-1)!.envelope_id!);
    await expect.poll(() => events[0]!.isAcked).toBe(true);
  });

  test("what nobody was there for comes with the next connection; a connection that is asked to go gets nothing new", async () => {
    slack.people.say("early", { by: ada, channel: chatId });
    const first = await connect();
    await expect.poll(() => first.got.some(({ payload }) => payload?.event?.text === "early")).toBe(true);
    slack.delivery.disconnect("warning");
    await expect.poll(() => first.got.at(-1)).toBeDefined();
    const second = await connect();
    slack.people.say("late", { by: ada, channel: chatId });
    await expect.poll(() => second.got.some(({ payload }) => payload?.event?.text === "late")).toBe(true);
    expect(first.got.some(({ payload }) => payload?.event?.text === "late")).toBe(false);
    expect(first.got.some(({ type, reason }) => type === "disconnect" && reason === "warning")).toBe(true);
  });
});

test("an answer to a command is taken five times", async () => {
  const { responseUrl } = slack.people.slash("/x", "", ada, chatId);
  const post = async () =>
    (await fetch(responseUrl, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ text: "a" }) })).status;
  expect([await post(), await post(), await post(), await post(), await post(), await post()]).toEqual([200, 200, 200, 200, 200, 404]);
});
