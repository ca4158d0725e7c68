import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeTelegram, startTelegram } from "../../../test/fakes/telegram/index.ts";
import { configOf, runAccount, type RunOptions, type RunningAccount } from "../testing.ts";

let telegram: FakeTelegram;
beforeEach(async () => {
  telegram = await startTelegram();
});
afterEach(() => telegram[Symbol.asyncDispose]());

const start = (options: Partial<RunOptions> = {}): RunningAccount => runAccount({ token: telegram.token, apiRoot: telegram.apiRoot, ...options });
const failure = (code: string): Error => Object.assign(new Error(`not now (${code})`), { code });
const offsets = (): unknown[] => telegram.calls("getUpdates").map(({ params }) => params["offset"]);

/** A store of the host that outlives an account. */
function keptState() {
  const kept = new Map<string, unknown>();
  const store = { lookup: async (key: string) => kept.get(key), register: async (key: string, value: unknown) => void kept.set(key, value) };
  return { kept, runtime: { state: { openKeyedStore: () => store } } as never };
}

describe("polling", () => {
  test("messages arrive in their order, from all chats", async () => {
    await using account = start();
    const group = telegram.group({ title: "Friends" });
    for (const text of ["one", "two", "three"]) telegram.say(text);
    telegram.say("in the group", { chat: group.id });
    await account.event(({ text }) => text === "in the group");
    await account.event(({ text }) => text === "three");
    expect(account.events.filter(({ chat }) => chat.type === "direct").map(({ text }) => text)).toEqual(["one", "two", "three"]);
    expect(account.status).toMatchObject({ running: true, connected: true, mode: "polling", lastError: null, bot: { username: telegram.bot.username } });
  });

  test("it is connected at once, also where nobody writes: the first question is a short one, those behind it are long", async () => {
    await using account = start();
    await expect.poll(() => telegram.calls("getUpdates").length).toBe(2);
    expect(account.status).toMatchObject({ connected: true });
    expect(telegram.calls("getUpdates").map(({ params }) => Number(params["timeout"]) > 0)).toEqual([false, true]);
  });

  test("an update is confirmed only when the host has it", async () => {
    const gate = Promise.withResolvers<void>();
    const offered = Promise.withResolvers<void>();
    await using account = start({
      accept() {
        offered.resolve();
        return gate.promise;
      },
    });
    const { updateId } = telegram.say("keep me");
    await offered.promise;
    // Whole exchanges of another poller pass, and we ask for nothing.
    for (const _ of [1, 2, 3]) await fetch(`${telegram.apiRoot}/bot${telegram.token}/getMe`);
    expect(telegram.polling).toBe(false);
    expect(telegram.pending).toBe(1);
    gate.resolve();
    telegram.say("next");
    await account.event(({ text }) => text === "next");
    expect(offsets()).toContain(updateId! + 1);
  });

  test("what the host does not take is offered again, in its order, until it is taken", async () => {
    let refusals = 4;
    const offered: string[] = [];
    await using account = start({
      async accept({ text }) {
        offered.push(text);
        if ((refusals -= 1) >= 0) throw failure(refusals % 2 === 0 ? "OVERLOADED" : "UNAVAILABLE");
      },
    });
    telegram.say("one");
    telegram.say("two");
    await account.event(({ text }) => text === "two");
    expect(offered).toEqual(["one", "one", "one", "one", "one", "two"]);
    expect(account.delays.slice(0, 4)).toEqual([2000, 3600, 6480, 11_664]);
  });

  test("an event that the host calls wrong is skipped after three attempts, and named", async () => {
    await using account = start({
      async accept({ text }) {
        if (text === "bad") throw failure("INVALID_INPUT");
      },
    });
    const { updateId } = telegram.say("bad");
    telegram.say("good");
    await account.event(({ text }) => text === "good");
    expect(account.status.application).toMatchObject({ skippedUpdates: { count: 1, last: [{ updateId }] } });
    expect(account.channel.status?.collectStatusIssues?.([{ ...account.status, configured: true }])[0]?.message).toContain(`skipped, last: ${updateId}`);
  });

  test("an update that cannot be read is skipped and named, and nothing waits for it", async () => {
    await using account = start();
    const id = telegram.raw({ message: { message_id: "no number" } });
    telegram.raw({ something_new: {} });
    telegram.say("after");
    await account.event(({ text }) => text === "after");
    expect(account.status.application).toEqual({ skippedUpdates: { count: 1, last: [{ updateId: id, why: "its message has no id" }] } });
  });

  test("stopping ends the open question, and nothing is asked afterwards", async () => {
    await using account = start();
    await account.shows(({ mode }) => mode === "polling");
    telegram.say("hello");
    await account.event(() => true);
    expect(await account.stop()).toBe("stopped");
    expect(account.status).toMatchObject({ running: false, connected: false });
    const asked = telegram.calls().length;
    telegram.say("too late");
    // A whole exchange of another poller passes.
    await fetch(`${telegram.apiRoot}/bot${telegram.token}/getMe`);
    expect(telegram.calls()).toHaveLength(asked + 1);
    expect(telegram.polling).toBe(false);
    expect(account.events).toHaveLength(1);
  });

  test("stopping while the host takes nothing leaves the update with Telegram", async () => {
    const { runtime } = keptState();
    const refused = Promise.withResolvers<void>();
    const account = start({
      runtime,
      async accept({ text }) {
        if (text === "taken") return;
        refused.resolve();
        throw failure("OVERLOADED");
      },
    });
    telegram.say("keep me");
    telegram.say("taken", { from: telegram.person() });
    await refused.promise;
    await account.event(({ text }) => text === "taken");
    await account[Symbol.asyncDispose]();
    await using again = start({ runtime });
    expect((await again.event(({ text }) => text === "keep me")).kind).toBe("message");
  });

  test("a restart goes on behind what was taken", async () => {
    const { kept, runtime } = keptState();
    const first = start({ runtime });
    const { updateId } = telegram.say("one");
    await first.event(() => true);
    await first[Symbol.asyncDispose]();
    expect(kept.get(`default:${telegram.bot.id}`)).toEqual(updateId! + 1);
    await using second = start({ runtime });
    telegram.say("two");
    await second.event(({ text }) => text === "two");
    expect(second.events.map(({ text }) => text)).toEqual(["two"]);
  });

  test("a webhook that is set is removed first", async () => {
    await fetch(`${telegram.apiRoot}/bot${telegram.token}/setWebhook?url=${encodeURIComponent("https://example.org/hook")}`);
    await using account = start();
    await telegram.called("deleteWebhook");
    telegram.say("hello");
    expect((await account.event(() => true)).text).toBe("hello");
  });
});

describe("when Telegram does not answer as it should", () => {
  test.each([
    ["another program receives (409)", { status: 409, description: "Conflict: terminated by other getUpdates request" }, "409 Conflict"],
    ["its server is broken", { status: 502, body: "<html>Bad Gateway</html>" }, "502"],
    ["the connection is reset", { drop: "before" as const }, "did not respond"],
  ])("%s: it is asked again, later", async (_, fault, words) => {
    telegram.fault("getUpdates", { ...fault, times: 2 });
    await using account = start();
    telegram.say("hello");
    expect((await account.event(() => true)).text).toBe("hello");
    expect(account.delays).toEqual([2000, 3600]);
    expect(account.logs.join("\n")).toContain(words);
    expect(account.status).toMatchObject({ connected: true, reconnectAttempts: 0, lastError: null });
  });

  test("too many questions: the time that it names is waited for", async () => {
    telegram.fault("getUpdates", { retryAfter: 17 });
    await using account = start();
    telegram.say("hello");
    await account.event(() => true);
    expect(account.delays).toEqual([17_000]);
  });

  test("while it is away attempts get rarer, up to half a minute", async () => {
    await telegram.down();
    await using account = start();
    await account.shows(({ reconnectAttempts = 0 }) => reconnectAttempts >= 8);
    expect(account.delays.slice(0, 8)).toEqual([2000, 3600, 6480, 11_664, 20_995, 30_000, 30_000, 30_000]);
    expect(account.status.lastError).toContain("could not be reached");
    await telegram.up();
    telegram.say("hello");
    await account.event(() => true);
  });

  test.each([
    ["is not valid (401)", 401, "Unauthorized"],
    ["belongs to no bot (404)", 404, "Not Found"],
  ])("a token that %s ends the account for good, without showing it", async (_, status, description) => {
    telegram.fault("getMe", { status, description });
    await using account = start();
    const error = await account.ended;
    expect(error).toMatchObject({ permanent: true, status });
    expect(String(error)).toContain("channels.telegram.botToken");
    expect(JSON.stringify([String(error), error, account.logs, account.status])).not.toContain(telegram.token.split(":")[1]!);
    expect(telegram.calls()).toHaveLength(1);
  });

  test("a token that is revoked while it runs ends it as well", async () => {
    await using account = start();
    await account.shows(({ connected }) => connected === true || account.status.mode === "polling");
    telegram.changeToken("7012345678:AAF-another-token-00000000000000000");
    telegram.dropConnections();
    expect(await account.ended).toMatchObject({ permanent: true, status: 401 });
  });

  test("without a token nothing is asked", async () => {
    await using account = runAccount({ token: "", apiRoot: telegram.apiRoot });
    expect(await account.ended).toMatchObject({ permanent: true, message: expect.stringContaining("has no bot token") as unknown });
    expect(telegram.calls()).toEqual([]);
  });
});

describe("a webhook", () => {
  const settings = { webhookUrl: "https://example.org/telegram-webhook", webhookSecret: "s3cret-of-a-test", webhookPort: 0 };
  const secret = { "x-telegram-bot-api-secret-token": settings.webhookSecret };
  const update = (id: number, text = "hello"): string =>
    JSON.stringify({ update_id: id, message: { message_id: id, date: 1, chat: { id: 5, type: "private" }, from: { id: 5, first_name: "A" }, text } });

  async function listening(options: Partial<RunOptions> = {}) {
    const account = start({ config: settings, ...options });
    await account.shows(({ port }) => typeof port === "number");
    const url = `http://127.0.0.1:${account.status.port}`;
    const post = (body: string, headers: Record<string, string> = secret, path = "/telegram-webhook"): Promise<Response> =>
      fetch(`${url}${path}`, { method: "POST", headers, body });
    return { account, url, post, [Symbol.asyncDispose]: () => account[Symbol.asyncDispose]() };
  }

  test.each([
    ["missing", undefined],
    ["empty", "  "],
    ["one that Telegram would not take", "no good!"],
  ])("with a secret that is %s is not started", async (_, webhookSecret) => {
    await using account = start({ config: { ...settings, webhookSecret } });
    expect(await account.ended).toMatchObject({ permanent: true, message: expect.stringContaining("channels.telegram.webhookSecret") as unknown });
    expect(telegram.calls()).toEqual([]);
  });

  test("is announced with its secret, and answers 200 when the host has the update", async () => {
    const gate = Promise.withResolvers<void>();
    const offered = Promise.withResolvers<void>();
    await using hook = await listening({
      accept() {
        offered.resolve();
        return gate.promise;
      },
    });
    expect(telegram.calls("setWebhook")[0]?.params).toMatchObject({ url: settings.webhookUrl, secret_token: settings.webhookSecret });
    let answered = false;
    const answer = hook.post(update(1)).finally(() => (answered = true));
    await offered.promise;
    await hook.post(update(2), {});
    expect(answered).toBe(false);
    gate.resolve();
    expect((await answer).status).toBe(200);
    expect(hook.account.events).toHaveLength(1);
  });

  test("a request without the right secret is refused unread", async () => {
    await using hook = await listening();
    for (const headers of [{}, { "x-telegram-bot-api-secret-token": "" }, { "x-telegram-bot-api-secret-token": `${settings.webhookSecret}x` }]) {
      expect((await hook.post(update(1), headers as Record<string, string>)).status).toBe(401);
    }
    expect(hook.account.events).toEqual([]);
  });

  test("the same update may come again: it is the same event", async () => {
    await using hook = await listening();
    for (const _ of [1, 2, 3]) expect((await hook.post(update(7))).status).toBe(200);
    expect(new Set(hook.account.events.map(({ id, chat }) => `${chat.id}/${id}`))).toEqual(new Set(["5/7"]));
  });

  test("what the host does not take is answered with 503, so that Telegram posts it again", async () => {
    let isFull = true;
    await using hook = await listening({
      async accept() {
        if (isFull) throw failure("OVERLOADED");
      },
    });
    expect((await hook.post(update(1))).status).toBe(503);
    isFull = false;
    expect((await hook.post(update(1))).status).toBe(200);
  });

  test.each([
    ["no JSON", "{", secret, "/telegram-webhook", 400],
    ["an update that cannot be read: it would come for ever", '{"update_id":1,"message":5}', secret, "/telegram-webhook", 200],
    ["too much", `"${"x".repeat(1024 * 1024 + 1)}"`, secret, "/telegram-webhook", 413],
    ["another path", "{}", secret, "/other", 404],
    ["the health path", "{}", {}, "/healthz", 200],
  ])("%s", async (_, body, headers, path, status) => {
    await using hook = await listening();
    expect((await hook.post(body, headers as Record<string, string>, path)).status).toBe(status);
    expect(hook.account.events).toEqual([]);
  });

  test("stopping closes the port", async () => {
    const hook = await listening();
    await hook.post(update(1));
    expect(await hook.account.stop()).toBe("stopped");
    await expect(hook.post(update(2))).rejects.toThrow("fetch failed");
    await hook[Symbol.asyncDispose]();
  });

  test("an address that Telegram refuses ends the account with its words", async () => {
    telegram.fault("setWebhook", { status: 400, description: "Bad Request: bad webhook: An HTTPS URL must be provided for webhook" });
    await using account = start({ config: settings });
    expect(String(await account.ended)).toContain("An HTTPS URL must be provided");
  });
});

describe("what comes with an update", () => {
  test("a button is answered at once, also while the host waits; reactions to ours are reported", async () => {
    const gate = Promise.withResolvers<void>();
    await using account = start({ accept: ({ kind }) => (kind === "button" ? gate.promise : Promise.resolve()) });
    telegram.say("/start");
    await account.event(({ text }) => text === "/start");
    const sent = await account.channel.outbound!.sendPayload!({
      cfg: configOf(telegram.token),
      to: String(telegram.me.id),
      text: "choose",
      payload: { channelData: { telegram: { buttons: [[{ text: "A", callback_data: "/a" }]] } } },
    });
    const message = { chatId: telegram.me.id, messageId: Number(sent.messageId) };
    const { callbackId } = telegram.press(message, "A");
    await telegram.called("answerCallbackQuery");
    expect(account.events.map(({ kind }) => kind)).toEqual(["message"]);
    gate.resolve();
    expect(await account.event(({ kind }) => kind === "button")).toMatchObject({ text: "/a", id: callbackId });
    const { updateId } = telegram.react(message, "👍");
    expect(await account.event(({ kind }) => kind === "reaction")).toMatchObject({ id: `${sent.messageId}:reaction:${updateId}` });
  });

  test("a group's settings move along when it becomes a supergroup", async () => {
    const group = telegram.group({ title: "Old", type: "group" });
    const groups = { [group.id]: { requireMention: false } };
    let file: object = { channels: { telegram: { groups, accounts: { two: { groups } } } } };
    const config = { mutateConfigFile: async ({ mutate }: { mutate(draft: object): object }) => (file = mutate(file)) };
    await using account = start({ runtime: { config, state: {} } as never });
    const { id } = telegram.migrate(group.id);
    await account.event(({ kind }) => kind === "notice");
    telegram.say("after");
    await account.event(({ text }) => text === "after");
    const moved = { [id]: { requireMention: false } };
    expect(file).toEqual({ channels: { telegram: { groups: moved, accounts: { two: { groups: moved } } } } });
  });

  test("where the configuration may not be changed, the log says what to change", async () => {
    const group = telegram.group({ title: "Old", type: "group" });
    await using account = start({ config: { configWrites: false } });
    const { id } = telegram.migrate(group.id);
    await account.event(({ kind }) => kind === "notice");
    telegram.say("after");
    await account.event(({ text }) => text === "after");
    expect(account.logs).toContain(`Telegram group ${group.id} is now ${id}; rename it in channels.telegram.groups`);
  });
});
