import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTelegramPlugin } from "../channel.ts";
import { configOf } from "../testing.ts";
import { type SendingLab, startSending } from "./lab.ts";

let lab: SendingLab;
beforeEach(async () => {
  lab = await startSending();
});
afterEach(() => lab[Symbol.asyncDispose]());

describe("a preview", () => {
  const LONG = "this is long enough to be shown ";
  const open = (config: Record<string, unknown> = {}, over: object = {}) =>
    lab.channel.preview!.open({
      cfg: configOf(lab.telegram.token, config),
      accountId: "default",
      to: String(lab.chat),
      chatType: "direct",
      signal: new AbortController().signal,
      ...over,
    });

  test("appears with some text, grows, and stays for the answer", async () => {
    const preview = open()!;
    await preview.update("short");
    expect(lab.seen()).toEqual([]);
    await preview.update(LONG);
    await preview.update(`${LONG}and **more**`);
    expect(lab.seen().map(({ text }) => text)).toEqual([`${LONG}and **more**`]);
    const previewId = await preview.seal();
    expect(previewId).toBe(String(lab.seen()[0]!.id));
    await preview.update(`${LONG}too late`);
    await lab.channel.outbound!.editPreview!({ ...lab.contextOf({ text: "the end" }), previewId: previewId!, payload: {} });
    expect(lab.seen().map(({ text }) => text)).toEqual(["the end"]);
  });

  test("that shows the answer already is not edited once more; one with marks, an address or buttons is", async () => {
    const finish = async (shown: string, text: string, config: Record<string, unknown> = {}, payload: object = {}): Promise<number> => {
      const preview = open(config)!;
      await preview.update(shown);
      const previewId = (await preview.seal())!;
      const before = lab.telegram.calls("editMessageText").length;
      const context = { ...lab.contextOf({ text, config }), previewId, payload };
      expect(await lab.channel.outbound!.editPreview!(context)).toMatchObject({ messageId: previewId });
      return lab.telegram.calls("editMessageText").length - before;
    };
    const same = `${LONG}& <more>`;
    expect(await finish(same, same)).toBe(0);
    expect(await finish(LONG.trim(), `${LONG}**and more**`)).toBe(1);
    expect(await finish(`${LONG}**bold**`, `${LONG}**bold**`)).toBe(1);
    expect(await finish(`${LONG}https://x.test`, `${LONG}https://x.test`)).toBe(1);
    const buttons = { channelData: { telegram: { buttons: [[{ text: "yes", callback_data: "y" }]] } } };
    expect(await finish(same, same, { capabilities: { inlineButtons: "all" } }, buttons)).toBe(1);
  });

  test("is off where the configuration says so", () => expect(open({ streamMode: "off" })).toBeUndefined());

  test("goes into its topic, as an answer", async () => {
    const group = lab.telegram.group({ forum: true });
    const topic = lab.telegram.topic(group.id, "Plans");
    const { messageId } = lab.telegram.say("q", { chat: group.id, thread: topic });
    await open({}, { to: `telegram:${group.id}`, threadId: topic, replyToId: String(messageId) })!.update(LONG);
    expect(lab.seen(group.id)).toMatchObject([{ thread: topic, replyTo: messageId }]);
  });

  test("can be taken away", async () => {
    const preview = open()!;
    await preview.update(LONG);
    await preview.discard();
    expect(lab.seen()).toEqual([]);
  });

  test("shows the newest text only, and what fits", async () => {
    const preview = open()!;
    await preview.update(LONG);
    await Promise.all([preview.update(`${LONG}1`), preview.update(`${LONG}2`), preview.update("x".repeat(5000))]);
    expect(lab.seen()[0]!.text).toBe(`${"x".repeat(4095)}…`);
    expect(lab.telegram.calls("editMessageText").length).toBeLessThan(3);
  });

  test("slows down where Telegram asks for it, and never fails", async () => {
    let now = 0;
    using slow = createTelegramPlugin({ apiRoot: lab.telegram.apiRoot, waiting: { now: () => now, sleep: async () => {}, random: () => 0 } });
    const preview = slow.preview!.open({
      cfg: configOf(lab.telegram.token),
      accountId: "default",
      to: String(lab.chat),
      chatType: "direct",
      signal: new AbortController().signal,
    })!;
    await preview.update(LONG);
    lab.telegram.fault("editMessageText", { retryAfter: 3 });
    await preview.update(`${LONG}1`);
    await preview.update(`${LONG}2`);
    expect(lab.telegram.calls("editMessageText")).toHaveLength(1);
    now = 3000;
    await preview.update(`${LONG}3`);
    expect(lab.seen()[0]!.text).toBe(`${LONG}3`);
    lab.telegram.fault("editMessageText", { status: 500 });
    await preview.update(`${LONG}4`);
    await preview.update(`${LONG}5`);
    expect(await preview.seal()).toBe(String(lab.seen()[0]!.id));
    expect(lab.seen()[0]!.text).toBe(`${LONG}3`);
  });

  test("that could not appear is none", async () => {
    lab.telegram.shut(lab.chat, "bot was blocked by the user");
    const preview = open()!;
    await preview.update(LONG);
    await preview.update(`${LONG}1`);
    expect(await preview.seal()).toBeUndefined();
    expect(lab.telegram.calls("sendMessage")).toHaveLength(1);
  });
});
