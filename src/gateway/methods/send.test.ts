import { expect, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import type { PollRequest, SendRequest, SentMessage } from "../../conversation/index.ts";
import { loadAnswerChecks, loadValidators, type MethodName, type MethodParams } from "../../protocol/index.ts";
import type { CallContext } from "./handler.ts";
import { sendHandlers } from "./send.ts";

const SENT: SentMessage = {
  state: "sent",
  messageIds: ["m1", "m2"],
  rowIds: [1, 2],
  channel: "chat",
  accountId: "default",
  to: "5",
  receipt: { chatId: "5", pollId: "p1", other: 1 },
};

function setup(sent: SentMessage = SENT, known: readonly string[] = ["chat"]) {
  const asked: (SendRequest | PollRequest)[] = [];
  const take = (request: SendRequest | PollRequest): Promise<SentMessage> => {
    if (request.channel === undefined && known.length !== 1)
      return Promise.reject(new AppError("INVALID_INPUT", "name a channel", { details: { reason: "channel" } }));
    if (request.channel !== undefined && !known.includes(request.channel)) return Promise.reject(new AppError("INVALID_INPUT", "there is no such channel"));
    asked.push(request);
    return Promise.resolve({ ...sent, ...(request.dryRun ? { dryRun: true } : {}) });
  };
  const handlers = sendHandlers({
    send: take,
    poll: take,
    action: (request) => Promise.resolve({ did: request.action }),
    resend: (rowId) => Promise.resolve({ ...sent, rowIds: [rowId] }),
  });
  async function call<M extends "send" | "poll" | "message.action" | "message.resend">(method: M, params: MethodParams<M>): Promise<unknown> {
    expect((await loadValidators()).params(method as MethodName, params) ?? []).toEqual([]);
    const handler = handlers[method] as unknown as (params: unknown, context: CallContext) => Promise<unknown>;
    const answer = await handler(params, {} as CallContext);
    expect((await loadAnswerChecks()).result(method as MethodName, answer) ?? []).toEqual([]);
    return answer;
  }
  return { asked, call };
}

test("send answers with the receipt of the last message, under the caller's key", async () => {
  const { asked, call } = setup();
  const answer = await call("send", { to: "5", message: "hi", mediaUrl: "https://x.test/a", mediaUrls: ["https://x.test/b"], idempotencyKey: "k1" });
  expect(answer).toEqual({ runId: "k1", messageId: "m2", channel: "chat", chatId: "5", pollId: "p1" });
  expect(asked).toEqual([{ to: "5", text: "hi", mediaUrls: ["https://x.test/a", "https://x.test/b"] }]);
});

test("resend takes a row as `why` names it, and nothing else", async () => {
  const { call } = setup();
  expect(await call("message.resend", { id: "out:17", idempotencyKey: "k1" })).toMatchObject({ runId: "k1", messageId: "m2", channel: "chat" });
  await expect(call("message.resend", { id: "in:17", idempotencyKey: "k2" })).rejects.toThrow("expected a delivery such as out:17");
});

test.each([
  ["failed", "blocked", "UNAVAILABLE", "could not be sent: blocked"],
  ["suppressed", "cancelled_by_message_sending_hook", "CONFLICT", "was not sent: cancelled_by_message_sending_hook"],
  ["unknown", undefined, "UNAVAILABLE", "may have arrived"],
  ["pending", "not connected", "UNAVAILABLE", "is queued and will be sent"],
] as const)("a message that is %s is not answered with a receipt", async (state, why, code, words) => {
  const { call } = setup({ ...SENT, state, messageIds: [], ...(why === undefined ? {} : { why }) });
  await expect(call("send", { to: "5", message: "x", idempotencyKey: "k" })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(words),
    details: { state },
  });
});

test("where several channels could be meant, the documented one is taken, when it is there", async () => {
  const both = setup(SENT, ["chat", "whatsapp"]);
  await both.call("send", { to: "5", message: "x", idempotencyKey: "k" });
  expect(both.asked[0]!.channel).toBe("whatsapp");
  const without = setup(SENT, ["chat", "irc"]);
  await expect(without.call("send", { to: "5", message: "x", idempotencyKey: "k" })).rejects.toThrow("name a channel");
});

test("poll hands on what was asked", async () => {
  const { asked, call } = setup();
  const params = { to: "5", question: "?", options: ["a", "b"], maxSelections: 2, durationHours: 1, isAnonymous: false, idempotencyKey: "k" };
  expect(await call("poll", params)).toMatchObject({ messageId: "m2", pollId: "p1" });
  expect(asked[0]).toEqual({ to: "5", poll: { question: "?", options: ["a", "b"], maxSelections: 2, durationHours: 1, isAnonymous: false } });
  await expect(call("poll", { ...params, durationSeconds: 60 })).rejects.toThrow("not both");
});

test("message.action sends and polls through delivery, and does everything else through the channel", async () => {
  const { asked, call } = setup();
  expect(await call("message.action", { action: "send", params: { to: "5", message: "x", replyTo: 3, channelData: { chat: {} } } })).toMatchObject({
    action: "send",
    to: "5",
    state: "sent",
  });
  expect(asked[0]).toEqual({ to: "5", text: "x", mediaUrls: [], replyToId: "3", channelData: { chat: {} } });
  await call("message.action", { action: "poll", params: { to: "5", pollQuestion: "?", pollOption: ["a", "b"], pollMulti: true } });
  expect(asked[1]).toMatchObject({ poll: { question: "?", options: ["a", "b"], maxSelections: 2 } });
  expect(await call("message.action", { action: "react", channel: "chat", params: { emoji: "x" } })).toEqual({
    action: "react",
    channel: "chat",
    result: { did: "react" },
  });
  expect(await call("message.action", { action: "send", dryRun: true, params: { to: "5", message: "x" } })).toMatchObject({ dryRun: true });
  await expect(call("message.action", { action: "send", params: { message: "x" } })).rejects.toThrow("requires a target");
});
