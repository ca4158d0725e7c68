import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Fault } from "../../../test/fakes/telegram/faults.ts";
import { createTelegramPlugin } from "../channel.ts";
import { failed, type SendingLab, startSending } from "./lab.ts";

let lab: SendingLab;
beforeEach(async () => {
  lab = await startSending();
});
afterEach(() => lab[Symbol.asyncDispose]());

describe("a text", () => {
  test("is shown with its styles", async () => {
    const result = await lab.send({ text: "**bold** and `code` <b>&" });
    expect(result).toMatchObject({ channel: "telegram", chatId: String(lab.chat), messageId: String(lab.seen()[0]!.id) });
    expect(lab.seen()[0]).toMatchObject({ text: "bold and code <b>&", entities: [{ type: "bold" }, { type: "code" }] });
  });

  test("that is styled already is taken as it is", async () => {
    await lab.send({ text: "ignored", rich: { text: "**x**", styles: [{ start: 0, end: 5, style: "italic" }], links: [] } });
    expect(lab.seen()[0]).toMatchObject({ text: "**x**", entities: [{ type: "italic" }] });
  });

  test("whose styles Telegram cannot read is sent without", async () => {
    lab.telegram.fault("sendMessage", { status: 400, description: "Bad Request: can't parse entities: Unsupported start tag at byte offset 3" });
    await lab.send({ text: "**bold**" });
    expect(lab.seen().map(({ text, entities }) => [text, entities])).toEqual([["bold", []]]);
  });

  test("answers a message, also one that is gone", async () => {
    const { messageId } = lab.telegram.say("question");
    await lab.send({ replyToId: String(messageId) });
    await lab.send({ replyToId: "99999" });
    expect(lab.seen().map(({ replyTo }) => replyTo)).toEqual([messageId, undefined]);
    expect(lab.telegram.calls("sendMessage")[0]?.params["reply_parameters"]).toMatchObject({ allow_sending_without_reply: true });
  });

  test.each([["4382bfdwdsb323b2d9"], ["438212345678901234"], [""], ["-4"]])("answers no message where %j is none", async (replyToId) => {
    await lab.send({ replyToId });
    expect(lab.telegram.calls("sendMessage")[0]?.params).not.toHaveProperty("reply_parameters");
  });

  test("goes into its topic, and into the group where the topic is gone; General is not named", async () => {
    const group = lab.telegram.group({ forum: true });
    const topic = lab.telegram.topic(group.id, "Plans");
    const to = `telegram:${group.id}`;
    await lab.send({ to, threadId: topic });
    await lab.send({ to: `${to}:topic:${topic}` });
    await lab.send({ to, threadId: 1 });
    await lab.send({ to, threadId: 4711 });
    expect(lab.seen(group.id).map(({ thread }) => thread)).toEqual([topic, topic, undefined, undefined]);
    expect(lab.telegram.calls("sendMessage")[2]?.params).not.toHaveProperty("message_thread_id");
  });

  test("is sent without a preview of links and without a sound where that is asked for", async () => {
    await lab.send({ config: { linkPreview: false }, silent: true });
    await lab.send();
    expect(lab.telegram.calls("sendMessage").map(({ params }) => [params["link_preview_options"], params["disable_notification"]])).toEqual([
      [{ is_disabled: true }, true],
      [undefined, undefined],
    ]);
  });

  test("follows a group that became a supergroup", async () => {
    const group = lab.telegram.group({ type: "group" });
    const next = lab.telegram.migrate(group.id);
    await lab.send({ to: String(group.id) });
    await lab.send({ to: String(group.id), text: "again" });
    expect(lab.seen(next.id).map(({ text }) => text)).toEqual(["hello", "again"]);
    expect(lab.telegram.calls("sendMessage").map(({ params }) => Number(params["chat_id"]))).toEqual([group.id, next.id, next.id]);
  });

  test.each(["telegram:", "", "someone with spaces", "1e9", "99999999999999999999"])("to %j goes nowhere", async (to) => {
    const error = await failed(lab.send({ to }));
    expect(error).toMatchObject({ delivery: { state: "failed" }, code: "INVALID_INPUT" });
    expect(lab.telegram.calls("sendMessage")).toEqual([]);
  });

  test("without a token goes nowhere", async () => {
    expect(await failed(lab.channel.outbound!.sendText!({ cfg: {}, to: "1234567", text: "x" }))).toMatchObject({ delivery: { state: "failed" } });
  });
});

describe("what became of a message that failed", () => {
  test.each([
    ["the chat is not there", { status: 400, description: "Bad Request: chat not found" }, { state: "failed" }],
    ["the bot was blocked", { status: 403, description: "Forbidden: bot was blocked by the user" }, { state: "failed" }],
    ["the token is wrong", { status: 401, description: "Unauthorized" }, { state: "failed" }],
    ["too many: nothing arrived", { retryAfter: 41 }, { state: "retry", retryAfterMs: 41_000 }],
    ["the server broke", { status: 500, description: "Internal Server Error" }, { state: "unknown" }],
    ["a gateway broke", { status: 502, body: "<html>Bad Gateway</html>" }, { state: "unknown" }],
    ["reset before the effect: nobody knows", { drop: "before" as const }, { state: "unknown" }],
    ["reset after the effect: nobody knows", { drop: "after" as const }, { state: "unknown" }],
  ])("%s", async (_, fault, delivery) => {
    lab.telegram.fault("sendMessage", fault);
    const error = await failed(lab.send());
    expect(error.delivery).toEqual(delivery);
    expect(JSON.stringify([String(error), error, error.stack])).not.toContain(lab.telegram.token.split(":")[1]!);
    expect(lab.telegram.calls("sendMessage")).toHaveLength(1);
  });

  test("no connection: it certainly did not arrive", async () => {
    await lab.telegram.down();
    const error = await failed(lab.send());
    expect(error).toMatchObject({ delivery: { state: "retry" }, code: "ECONNREFUSED" });
    expect(String(error)).not.toContain(lab.telegram.token);
    await lab.telegram.up();
  });

  test("a name that has no address: it certainly did not arrive", async () => {
    using away = createTelegramPlugin({ apiRoot: "http://telegram.invalid" });
    expect(await failed(away.outbound!.sendText!(lab.contextOf()))).toMatchObject({ delivery: { state: "retry" } });
  });

  test("no answer in time: nobody knows", async () => {
    const config = { timeoutSeconds: 1 };
    await lab.send({ config });
    lab.telegram.fault("sendMessage", { silent: "after" });
    expect(await failed(lab.send({ config }))).toMatchObject({ delivery: { state: "unknown" } });
  });

  test("given up by the host", async () => {
    lab.telegram.fault("sendMessage", { silent: "before" });
    const abort = new AbortController();
    const sending = failed(lab.send({ signal: abort.signal }));
    await new Promise<void>((resolve) => {
      const look = (): void => void (lab.telegram.calls("sendMessage").length > 0 ? resolve() : setImmediate(look));
      look();
    });
    abort.abort();
    expect(await sending).toMatchObject({ delivery: { state: "unknown" } });
  });
});

describe("the message that showed the answer", () => {
  const preview = async (text = "the answer so far, and more of it"): Promise<string> => (await lab.send({ text })).messageId;
  const edit = (text: string, previewId: string) => lab.channel.outbound!.editPreview!({ ...lab.contextOf({ text }), previewId, payload: { text } });

  test("becomes the answer", async () => {
    const previewId = await preview();
    expect(await edit("**done**", previewId)).toMatchObject({ messageId: previewId });
    expect(lab.seen().map(({ id, text }) => [String(id), text])).toEqual([[previewId, "done"]]);
  });

  test("that shows it already is left as it is", async () => {
    const previewId = await preview("same");
    expect(await edit("same", previewId)).toMatchObject({ messageId: previewId });
    expect(lab.seen()).toHaveLength(1);
  });

  test("that cannot be edited is given up, and goes away when the answer is there", async () => {
    const previewId = await preview();
    lab.telegram.fault("editMessageText", { status: 400, description: "Bad Request: message can't be edited" });
    expect(await edit("done", previewId)).toBeUndefined();
    await lab.send({ text: "done", stalePreviewId: previewId });
    expect(lab.seen().map(({ text }) => text)).toEqual(["done"]);
  });

  test("whose styles cannot be read is shown without", async () => {
    const previewId = await preview();
    lab.telegram.fault("editMessageText", { status: 400, description: "Bad Request: can't parse entities: Can't find end tag" });
    await edit("**done**", previewId);
    expect(lab.seen().map(({ text, entities }) => [text, entities])).toEqual([["done", []]]);
  });

  test("may be edited twice: an edit without an answer is simply made again", async () => {
    const previewId = await preview();
    lab.telegram.fault("editMessageText", { drop: "after" });
    expect(await failed(edit("done", previewId))).toMatchObject({ delivery: { state: "retry" } });
    await edit("done", previewId);
    expect(lab.seen().map(({ text }) => text)).toEqual(["done"]);
  });
});

describe("whether messages are taken", () => {
  const check = () =>
    lab.channel.outbound!.checkSend!({ cfg: lab.contextOf().cfg, accountId: "default", to: `telegram:${lab.chat}`, signal: new AbortController().signal });

  test("is asked without sending one", async () => {
    await check();
    expect(lab.seen()).toEqual([]);
  });

  test.each<[string, string, Fault]>([
    ["the chat cannot be reached", "sendChatAction", { status: 502, body: "<html>Bad Gateway</html>" }],
    ["sending breaks", "sendMessage", { status: 500 }],
    ["it is too much", "sendMessage", { retryAfter: 3 }],
    ["the connection breaks", "sendMessage", { drop: "before" }],
  ])("no: %s", async (_, method, fault) => {
    lab.telegram.fault(method, fault);
    await expect(check()).rejects.toThrow("Telegram");
    await check();
  });

  test("yes, also where the bot was thrown out: the message itself will say so", async () => {
    lab.telegram.shut(lab.chat, "bot was blocked by the user");
    await check();
  });
});

test("another Bot API server is used where apiRoot says so, for an account or the channel; what is no address is refused", async () => {
  const channel = createTelegramPlugin();
  const root = `${lab.telegram.apiRoot}/`;
  await channel.outbound!.sendText!(lab.contextOf({ text: "there", config: { apiRoot: root } }));
  await channel.outbound!.sendText!(
    lab.contextOf({ text: "too", accountId: "own", config: { accounts: { own: { botToken: lab.telegram.token, apiRoot: root } } } }),
  );
  expect(lab.seen().map(({ text }) => text)).toEqual(["there", "too"]);
  await expect(channel.outbound!.sendText!(lab.contextOf({ config: { apiRoot: "my server" } }))).rejects.toThrow(/apiRoot.*http:/);
  channel[Symbol.dispose]();
});
