/** The fake against Slack's own client libraries, which know nothing of ours. */
import { LogLevel, SocketModeClient } from "@slack/socket-mode";
import { ErrorCode, retryPolicies, WebClient, WebClientEvent, type WebClientOptions } from "@slack/web-api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeSlack, startSlack, type User } from "./index.ts";

let slack: FakeSlack;
let web: WebClient;
let ada: User;
let channel: string;
beforeEach(async () => {
  slack = await startSlack({ ackMs: 100, pingMs: 50 });
  web = clientOf(slack.botToken);
  ada = slack.world.person("ada");
  channel = slack.world.conversation("channel", "general", [ada.id, slack.world.bot.id]).id;
});
afterEach(() => slack[Symbol.asyncDispose]());

const options = (more: WebClientOptions = {}): WebClientOptions => ({
  slackApiUrl: slack.apiRoot,
  retryConfig: retryPolicies.rapidRetryPolicy,
  logLevel: LogLevel.ERROR,
  logger: silent(),
  ...more,
});
const clientOf = (token: string, more?: WebClientOptions): WebClient => new WebClient(token, options(more));

/** The clients' logger, which stores what they log. */
function silent(lines: string[] = []) {
  const log = (...texts: unknown[]): void => void lines.push(texts.map(String).join(" "));
  return { debug: log, info: log, warn: log, error: log, setLevel: () => {}, setName: () => {}, getLevel: () => LogLevel.DEBUG };
}

const errorOf = (data: object): object => ({ code: ErrorCode.PlatformError, data: { ok: false, ...data } });

describe("the official Web API client", () => {
  test("signs in, and reads the scopes that the token has and the method takes", async () => {
    const { world } = slack;
    expect(await web.auth.test()).toMatchObject({ ok: true, user_id: world.bot.id, bot_id: world.bot.botId, team_id: world.team.id });
    const { response_metadata: metadata } = await web.users.info({ user: ada.id });
    expect(metadata?.scopes).toEqual([...slack.scopes]);
    expect(metadata?.acceptedScopes).toEqual(["users:read"]);
  });

  test("posts, edits, deletes and reads back", async () => {
    const blocks = [{ type: "section", text: { type: "mrkdwn", text: "*one*" } }];
    const posted = await web.chat.postMessage({ channel, text: "one", blocks, metadata: { event_type: "made", event_payload: { id: "n1" } } });
    expect(posted).toMatchObject({ channel, message: { text: "one", bot_id: slack.world.bot.botId, bot_profile: { app_id: slack.world.appId } } });
    const ts = posted.ts!;
    expect(await web.chat.update({ channel, ts, text: "two" })).toMatchObject({ ts, text: "two" });
    const { messages } = await web.conversations.history({ channel, include_all_metadata: true });
    expect(messages).toMatchObject([{ ts, text: "two", metadata: { event_type: "made" }, edited: { user: slack.world.bot.id } }]);
    expect(Number(messages![0]!.edited!.ts)).toBeGreaterThan(Number(ts));
    expect(await web.chat.delete({ channel, ts })).toMatchObject({ channel, ts });
    expect((await web.conversations.history({ channel })).messages).toEqual([]);
    await expect(web.chat.update({ channel, ts, text: "three" })).rejects.toMatchObject(errorOf({ error: "message_not_found" }));
  });

  test("writes Markdown, which excludes another text, and writes to a person by id", async () => {
    await web.chat.postMessage({ channel: ada.id, markdown_text: "**hi**" });
    expect(slack.world.messages(slack.world.direct(ada.id).id)).toMatchObject([{ text: "**hi**" }]);
    const both = { channel, text: "a", markdown_text: "b" } as unknown as Parameters<WebClient["chat"]["postMessage"]>[0];
    await expect(web.chat.postMessage(both)).rejects.toMatchObject(errorOf({ error: "markdown_text_conflict" }));
  });

  test("replies in a thread, whose first message counts its replies", async () => {
    const { ts } = slack.world.post({ channel, text: "root", user: ada.id });
    const first = await web.chat.postMessage({ channel, thread_ts: ts, text: "one" });
    const second = await web.chat.postMessage({ channel, thread_ts: first.ts!, text: "two" });
    expect(second.message).toMatchObject({ thread_ts: ts, parent_user_id: ada.id });
    const { messages } = await web.conversations.replies({ channel, ts });
    expect(messages).toMatchObject([
      { ts, thread_ts: ts, reply_count: 2, reply_users: [slack.world.bot.id], latest_reply: second.ts },
      { text: "one", thread_ts: ts },
      { text: "two", thread_ts: ts },
    ]);
    expect((await web.conversations.history({ channel })).messages).toMatchObject([{ ts, thread_ts: ts, reply_count: 2 }]);
    await expect(web.conversations.replies({ channel, ts: "1700000000.000001" })).rejects.toMatchObject(errorOf({ error: "thread_not_found" }));
  });

  test("reacts, reads reactions and pins", async () => {
    const { ts } = slack.world.post({ channel, text: "look", user: ada.id });
    await web.reactions.add({ channel, timestamp: ts, name: "eyes" });
    const { bot } = slack.world;
    expect(await web.reactions.get({ channel, timestamp: ts, full: true })).toMatchObject({
      type: "message",
      channel,
      message: { ts, reactions: [{ name: "eyes", count: 1, users: [bot.id] }] },
    });
    await expect(web.reactions.add({ channel, timestamp: ts, name: "eyes" })).rejects.toMatchObject(errorOf({ error: "already_reacted" }));
    await web.reactions.remove({ channel, timestamp: ts, name: "eyes" });
    await expect(web.reactions.remove({ channel, timestamp: ts, name: "eyes" })).rejects.toMatchObject(errorOf({ error: "no_reaction" }));
    await web.pins.add({ channel, timestamp: ts });
    expect((await web.pins.list({ channel })).items).toMatchObject([{ type: "message", message: { ts, text: "look" } }]);
    await web.pins.remove({ channel, timestamp: ts });
    expect((await web.pins.list({ channel })).items).toEqual([]);
  });

  test("uploads several files with a comment in a thread, and their bytes come down with the token", async () => {
    const { ts } = slack.world.post({ channel, text: "root", user: ada.id });
    const file_uploads = [
      { file: Buffer.from([0, 255, 13, 10, 45, 45]), filename: "raw.bin", title: "Raw bytes" },
      { content: "words – ünï", filename: "notes.txt" },
    ];
    const { files: jobs } = await web.filesUploadV2({ channel_id: channel, thread_ts: ts, initial_comment: "see", file_uploads });
    const files = jobs.flatMap(({ files: done }) => done ?? []);
    expect(files).toMatchObject([
      { name: "raw.bin", title: "Raw bytes", size: 6, filetype: "bin" },
      { name: "notes.txt", title: "notes.txt", filetype: "txt" },
    ]);
    const read = async (url: string) => Buffer.from(await (await fetch(url, { headers: { authorization: `Bearer ${slack.botToken}` } })).arrayBuffer());
    expect([...(await read(files[0]!.url_private!))]).toEqual([0, 255, 13, 10, 45, 45]);
    expect((await read(files[1]!.url_private_download!)).toString()).toBe("words – ünï");
    const { messages } = await web.conversations.replies({ channel, ts });
    expect(messages!.at(-1)).toMatchObject({ text: "see", thread_ts: ts, files: [{ name: "raw.bin" }, { name: "notes.txt" }] });
  });

  test("opens direct and group chats, and knows them again", async () => {
    const { world } = slack;
    const bob = world.person("bob");
    const direct = await web.conversations.open({ users: ada.id, return_im: true });
    expect(direct.channel).toMatchObject({ id: world.direct(ada.id).id, is_im: true, user: ada.id });
    const group = await web.conversations.open({ users: `${ada.id},${bob.id}` });
    expect((await web.conversations.open({ users: `${bob.id},${ada.id}` })).channel).toEqual(group.channel);
    expect((await web.conversations.info({ channel: group.channel!.id! })).channel).toMatchObject({ is_mpim: true, is_im: false, is_private: true });
    await expect(web.conversations.open({ users: `${ada.id},U0NOPE0000` })).rejects.toMatchObject(errorOf({ error: "user_not_found" }));
  });

  test("lists conversations of the types that it asks for", async () => {
    const { world } = slack;
    const secret = world.conversation("group", "secret", [ada.id, world.bot.id]);
    world.conversation("group", "foreign", [ada.id]);
    world.conversation("channel", "old", []).isArchived = true;
    const names = async (args: object) => (await web.conversations.list(args)).channels!.map(({ name }) => name);
    expect(await names({})).toEqual(["general", "old"]);
    expect(await names({ types: "public_channel,private_channel", exclude_archived: true })).toEqual(["general", "secret"]);
    expect((await web.conversations.list({ types: "private_channel" })).channels).toMatchObject([{ id: secret.id, is_private: true }]);
    await expect(web.conversations.list({ types: "threads" })).rejects.toMatchObject(errorOf({ error: "invalid_types" }));
  });

  test("walks through pages of every list by its cursors", async () => {
    const { world } = slack;
    const people = ["bob", "cleo", "dan"].map((name) => world.person(name));
    for (const { id } of people) world.conversations.get(channel)!.members.add(id);
    for (const name of ["one", "two", "three"]) world.conversation("channel", name, []);
    const said = ["a", "b", "c", "d", "e"].map((text) => world.post({ channel, text, user: ada.id }).ts);
    for (const text of ["r1", "r2", "r3"]) world.post({ channel, text, user: ada.id, threadTs: said[0] });

    async function all(method: string, args: object, read: (page: Record<string, unknown>) => readonly unknown[]): Promise<unknown[][]> {
      const pages: unknown[][] = [];
      for await (const page of web.paginate(method, { limit: 2, ...args })) pages.push([...read({ ...page })]);
      return pages;
    }
    const texts = ({ messages }: Record<string, unknown>): string[] => (messages as { text: string }[]).map(({ text }) => text);
    expect(await all("conversations.history", { channel }, texts)).toEqual([["e", "d"], ["c", "b"], ["a"]]);
    expect((await all("conversations.replies", { channel, ts: said[0] }, texts)).flat().filter((text) => text !== "a")).toEqual(["r1", "r2", "r3"]);
    expect((await all("conversations.list", {}, ({ channels }) => channels as unknown[])).map(({ length }) => length)).toEqual([2, 2]);
    expect((await all("conversations.members", { channel }, ({ members }) => members as unknown[])).flat()).toEqual([
      ada.id,
      world.bot.id,
      ...people.map(({ id }) => id),
    ]);
    expect((await all("users.list", {}, ({ members }) => members as unknown[])).map(({ length }) => length)).toEqual([2, 2, 1]);
    await expect(web.users.list({ limit: 2, cursor: "2" })).rejects.toMatchObject(errorOf({ error: "invalid_cursor" }));
  });

  test("waits for as long as a refusal with Retry-After says, and then its message arrives once", async () => {
    slack.limitRate({ messages: 0, perMs: 1000 });
    const waits: number[] = [];
    web.on(WebClientEvent.RATE_LIMITED, (seconds: number) => {
      waits.push(seconds);
      slack.limitRate(undefined);
    });
    const before = Date.now();
    await web.chat.postMessage({ channel, text: "one" });
    expect(waits).toEqual([1]);
    // Timers may fire a millisecond early.
    expect(Date.now() - before).toBeGreaterThanOrEqual(990);
    expect(slack.world.messages(channel).map(({ text }) => text)).toEqual(["one"]);
    slack.limitRate({ messages: 0, perMs: 600_000 });
    const impatient = clientOf(slack.botToken, { rejectRateLimitedCalls: true });
    await expect(impatient.chat.postMessage({ channel, text: "two" })).rejects.toMatchObject({ code: ErrorCode.RateLimitedError, retryAfter: 600 });
  });

  test("gets refusals and broken answers as its own errors", async () => {
    await expect(clientOf("xoxb-wrong").auth.test()).rejects.toMatchObject(errorOf({ error: "invalid_auth" }));
    await expect(web.apiCall("chat.shout")).rejects.toMatchObject(errorOf({ error: "unknown_method" }));
    await expect(web.chat.postMessage({ channel: "C0NOPE0000", text: "x" })).rejects.toMatchObject(errorOf({ error: "channel_not_found" }));
    await expect(web.users.info({ user: "U0NOPE0000" })).rejects.toMatchObject(errorOf({ error: "user_not_found" }));
    await expect(web.chat.postMessage({ channel, text: "" })).rejects.toMatchObject(errorOf({ error: "no_text" }));
    const tooMany = Array.from({ length: 51 }, () => ({ type: "divider" }));
    await expect(web.chat.postMessage({ channel, text: "x", blocks: tooMany })).rejects.toMatchObject(
      errorOf({ error: "invalid_blocks", response_metadata: { messages: [expect.stringContaining("no more than 50")] } }),
    );
    slack.scopes.delete("pins:read");
    await expect(web.pins.list({ channel })).rejects.toMatchObject(errorOf({ error: "missing_scope", needed: "pins:read" }));
    const once = clientOf(slack.botToken, { retryConfig: { retries: 0 } });
    slack.server.faults.add({ status: 503, body: "later" });
    await expect(once.auth.test()).rejects.toMatchObject({ code: ErrorCode.HTTPError, statusCode: 503 });
    slack.server.faults.add({ reset: true });
    await expect(once.auth.test()).rejects.toMatchObject({ code: ErrorCode.RequestError });
  });

  test("streams an answer in chunks, which is a message at its end", async () => {
    const { ts: thread_ts } = slack.world.post({ channel, text: "q", user: ada.id });
    const where = { channel, thread_ts, recipient_user_id: ada.id, recipient_team_id: slack.world.team.id };
    const stream = web.chatStream({ ...where, buffer_size: 4 });
    await stream.append({ markdown_text: "**Hello** " });
    await stream.append({ markdown_text: "wide " });
    await stream.append({ chunks: [{ type: "task_update", id: "t1", title: "Looking", status: "in_progress" } as never] });
    await expect(web.chat.update({ channel, ts: stream.ts!, text: "x" })).rejects.toMatchObject(errorOf({ error: "streaming_state_conflict" }));
    const done = await stream.stop({ markdown_text: "world", blocks: [{ type: "divider" }] });
    expect(done).toMatchObject({ channel, ts: stream.ts, message: { text: "**Hello** wide world", thread_ts, blocks: [{ type: "divider" }] } });
    await expect(web.chat.appendStream({ channel, ts: stream.ts!, markdown_text: "more" })).rejects.toMatchObject(
      errorOf({ error: "message_not_in_streaming_state" }),
    );
    await expect(web.chat.startStream({ channel, thread_ts })).rejects.toMatchObject(errorOf({ error: "missing_recipient_user_id" }));
    const direct = slack.world.direct(ada.id).id;
    const question = slack.world.post({ channel: direct, text: "q", user: ada.id }).ts;
    const short = web.chatStream({ channel: direct, thread_ts: question });
    await short.append({ markdown_text: "ok" });
    await short.stop();
    expect(slack.world.messages(direct).at(-1)).toMatchObject({ text: "ok", isStreaming: false });
  });
});

interface Heard {
  readonly type: string;
  readonly body: Record<string, unknown> & { readonly event?: Record<string, unknown> };
  readonly retry_num?: number;
  readonly accepts_response_payload?: boolean;
  ack(response?: object): Promise<void>;
}

interface SocketOptions {
  readonly reconnect?: boolean;
  readonly token?: string;
}

/** The official Socket Mode client, with everything that it hears. */
function listening({ reconnect = false, token = slack.appToken }: SocketOptions = {}) {
  const heard: Heard[] = [];
  const states: string[] = [];
  const logs: string[] = [];
  const client = new SocketModeClient({
    appToken: token,
    autoReconnectEnabled: reconnect,
    pingPongLoggingEnabled: true,
    // Also the wait before it connects again. A busy machine may answer late without being gone.
    clientPingTimeout: reconnect ? 1000 : 30_000,
    logger: silent(logs),
    clientOptions: { slackApiUrl: slack.apiRoot, retryConfig: { retries: 0 } },
  });
  client.on("slack_event", (event: Heard) => void heard.push(event));
  for (const state of ["connected", "reconnecting", "disconnected"]) client.on(state, () => void states.push(state));
  // Delivery is at least once: on a busy machine an acknowledgement may be late.
  const events = (type: string) => [...new Map(heard.map(({ body }) => [body["event_id"], body.event])).values()].filter((event) => event?.["type"] === type);
  return { client, heard, states, logs, events, [Symbol.asyncDispose]: () => client.disconnect() };
}

describe("the official Socket Mode client", () => {
  test("connects with an address of its own, is greeted and hears pings", async () => {
    await using app = listening();
    expect(await app.client.start()).toMatchObject({ ok: true, url: expect.stringContaining("ticket=") as string });
    expect(app.states).toEqual(["connected"]);
    expect(slack.delivery.open).toBe(1);
    await expect.poll(() => app.logs.filter((line) => line.includes("received ping from Slack server")).length).toBeGreaterThan(1);
    await expect.poll(() => app.logs.some((line) => line.includes("Unable to parse"))).toBe(false);
  });

  test("acknowledges events, commands and interactions, answering those that take an answer", async () => {
    await using app = listening();
    await app.client.start();
    const [event] = slack.people.say("hello", { by: ada, channel }).events;
    await expect.poll(() => app.heard.at(-1)).toMatchObject({ type: "events_api", accepts_response_payload: false, body: { event: { text: "hello" } } });
    await app.heard.at(-1)!.ack();
    await expect.poll(() => event!.isAcked).toBe(true);
    expect(event!.answer).toBeUndefined();

    const command = slack.people.slash("/claw", "status", ada, channel);
    await expect
      .poll(() => app.heard.at(-1))
      .toMatchObject({ type: "slash_commands", accepts_response_payload: true, body: { command: "/claw", text: "status" } });
    await app.heard.at(-1)!.ack({ text: "fine" });
    await expect.poll(() => command.answer).toEqual({ text: "fine" });

    const blocks = [{ type: "actions", elements: [{ type: "button", action_id: "a", value: "v", text: { type: "plain_text", text: "Pick" } }] }];
    const { ts } = await web.chat.postMessage({ channel, text: "Pick:", blocks });
    const pressed = slack.people.press(channel, ts!, ada, "v");
    const action = () => app.heard.findLast(({ type }) => type === "interactive");
    await expect.poll(() => action()?.body).toMatchObject({ type: "block_actions", actions: [{ action_id: "a", value: "v" }], message: { ts } });
    await action()!.ack();
    await expect.poll(() => pressed.isAcked).toBe(true);
    const form = slack.people.submit(ada, { name: { input: { type: "plain_text_input", value: "x" } } });
    await expect.poll(() => action()?.body["type"]).toBe("view_submission");
    await action()!.ack({ response_action: "clear" });
    await expect.poll(() => form.answer).toEqual({ response_action: "clear" });
  });

  test("hears an event again, counted, until it acknowledges it", async () => {
    await using app = listening();
    await app.client.start();
    const [event] = slack.people.say("hello", { by: ada, channel }).events;
    await expect.poll(() => app.heard.map(({ retry_num: count }) => count).slice(0, 2)).toEqual([0, 1]);
    await app.heard.at(-1)!.ack();
    await expect.poll(() => event!.isAcked).toBe(true);
  });

  test("hears what the app itself does as well", async () => {
    await using app = listening();
    app.client.on("slack_event", ({ ack }: Heard) => void ack());
    await app.client.start();
    const { ts } = await web.chat.postMessage({ channel, text: "one" });
    await web.chat.update({ channel, ts: ts!, text: "two" });
    await web.reactions.add({ channel, timestamp: ts!, name: "eyes" });
    await web.reactions.remove({ channel, timestamp: ts!, name: "eyes" });
    await web.pins.add({ channel, timestamp: ts! });
    await web.pins.remove({ channel, timestamp: ts! });
    await web.chat.delete({ channel, ts: ts! });
    await expect
      .poll(() => app.events("message"))
      .toMatchObject([
        { ts, text: "one", channel_type: "channel", bot_id: slack.world.bot.botId },
        { subtype: "message_changed", message: { ts, text: "two" }, previous_message: { ts, text: "one" } },
        { subtype: "message_deleted", deleted_ts: ts, previous_message: { ts, text: "two" } },
      ]);
    expect([...app.events("reaction_added"), ...app.events("reaction_removed")]).toMatchObject([
      { user: slack.world.bot.id, reaction: "eyes", item: { type: "message", channel, ts } },
      { user: slack.world.bot.id, reaction: "eyes" },
    ]);
    expect([...app.events("pin_added"), ...app.events("pin_removed")]).toMatchObject([
      { user: slack.world.bot.id, channel_id: channel, item: { type: "message", message: { ts } } },
      { user: slack.world.bot.id, channel_id: channel },
    ]);
  });

  test.each(["warning", "refresh_requested"])("connects again when the server says %s, and misses nothing", async (reason) => {
    await using app = listening({ reconnect: true });
    app.client.on("slack_event", ({ ack }: Heard) => void ack().catch(() => {}));
    await app.client.start();
    slack.delivery.disconnect(reason);
    slack.people.say("in between", { by: ada, channel });
    await expect.poll(() => app.states).toEqual(expect.arrayContaining(["reconnecting"]));
    await expect.poll(() => app.states.filter((state) => state === "connected").length).toBeGreaterThan(1);
    slack.people.say("after", { by: ada, channel });
    await expect.poll(() => [...new Set(app.events("message").map((event) => event!["text"]))]).toEqual(["in between", "after"]);
    expect(slack.calls().filter((method) => method === "apps.connections.open").length).toBeGreaterThan(1);
  });

  test("is turned away when ten connections are open", async () => {
    await using many = new AsyncDisposableStack();
    for (let count = 0; count < 10; count += 1) await many.use(listening()).client.start();
    expect(slack.delivery.open).toBe(10);
    const extra = many.use(listening());
    await expect(extra.client.start()).rejects.toBeUndefined();
    expect(extra.states).toEqual(["disconnected"]);
    expect(extra.logs.join("\n")).toContain("too_many_websockets");
    expect(slack.delivery.open).toBe(10);
  });

  test("is refused without a token for connections", async () => {
    const wrong = listening({ token: "xapp-wrong", reconnect: true });
    await expect(wrong.client.start()).rejects.toMatchObject(errorOf({ error: "invalid_auth" }));
    const bot = listening({ token: slack.botToken });
    await expect(bot.client.start()).rejects.toMatchObject(errorOf({ error: "not_allowed_token_type" }));
  });

  test("may use an address once", async () => {
    const { url } = await clientOf(slack.appToken).apps.connections.open();
    const attempt = () =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(url!);
        socket.addEventListener("message", () => socket.close());
        socket.addEventListener("close", ({ code }) => resolve(code === 1006 ? "refused" : "greeted"));
      });
    expect([await attempt(), await attempt()]).toEqual(["greeted", "refused"]);
  });
});
