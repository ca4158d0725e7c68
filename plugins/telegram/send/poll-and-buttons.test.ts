import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { configOf } from "../testing.ts";
import { failed, type SendingLab, startSending } from "./lab.ts";

let lab: SendingLab;
beforeEach(async () => {
  lab = await startSending();
});
afterEach(() => lab[Symbol.asyncDispose]());

describe("a poll", () => {
  const poll = (over: object, more: object = {}) =>
    lab.channel.outbound!.sendPoll!({
      cfg: configOf(lab.telegram.token),
      to: String(lab.chat),
      poll: { question: "Tea?", options: ["yes", "no"], ...over },
      ...more,
    });

  test("is shown", async () => {
    const result = await poll({ maxSelections: 2, durationSeconds: 60 });
    expect(lab.seen()[0]?.poll).toMatchObject({ question: "Tea?", options: ["yes", "no"] });
    expect(result).toMatchObject({ messageId: String(lab.seen()[0]!.id) });
    expect(lab.telegram.calls("sendPoll")[0]?.params).toMatchObject({ is_anonymous: true, allows_multiple_answers: true, open_period: 60 });
  });

  test.each([
    ["one answer", { options: ["yes"] }],
    ["eleven answers", { options: Array.from({ length: 11 }, String) }],
    ["no question", { question: " " }],
    ["an hour", { durationHours: 1 }],
  ])("with %s goes nowhere", async (_, over) => {
    expect(await failed(poll(over))).toMatchObject({ delivery: { state: "failed" } });
    expect(lab.telegram.calls("sendPoll")).toEqual([]);
  });
});

describe("buttons", () => {
  const buttons = [
    [
      { text: "A", callback_data: "/a" },
      { text: "site", url: "https://x.io" },
    ],
    [{ text: "bad", url: "javascript:1" }, { text: "long", callback_data: "x".repeat(65) }, {}],
  ];
  const withButtons = (config: Record<string, unknown> = {}, to = lab.chat) =>
    lab.channel.outbound!.sendPayload!({ ...lab.contextOf({ config, to: String(to) }), payload: { text: "hello", channelData: { telegram: { buttons } } } });

  test("stand below the message, without those that Telegram refuses", async () => {
    await withButtons();
    expect(lab.telegram.calls("sendMessage")[0]?.params["reply_markup"]).toEqual({
      inline_keyboard: [
        [
          { text: "A", callback_data: "/a" },
          { text: "site", url: "https://x.io" },
        ],
      ],
    });
  });

  test.each([
    ["off", false, false],
    ["dm", true, false],
    ["group", false, true],
    ["all", true, true],
  ])("%s: in private %s, in groups %s", async (inlineButtons, direct, group) => {
    const place = lab.telegram.group();
    await withButtons({ capabilities: { inlineButtons } });
    await withButtons({ capabilities: { inlineButtons } }, place.id);
    expect([lab.seen()[0]!.buttons.length > 0, lab.seen(place.id)[0]!.buttons.length > 0]).toEqual([direct, group]);
  });
});
