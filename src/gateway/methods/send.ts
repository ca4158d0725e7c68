/** Sending on request: `send`, `poll`, `message.action` and `message.resend`. */
import { AppError } from "../../base/errors.ts";
import { DEFAULT_CHANNEL } from "../../config/index.ts";
import { receiptOf, type Delivery, type Messages, type SentMessage } from "../../conversation/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { HandlersOf } from "./handler.ts";

/** What the methods need of the conversation module. */
export type MessagesPort = Pick<Messages, "send" | "poll" | "action"> & Pick<Delivery, "resend">;

const delivered = (sent: SentMessage, runId: string): MethodResult<"send"> => ({ runId, ...receiptOf(sent) });

/** Runs with the named channel, else the only one, else the documented default. */
async function withChannel<T>(named: string | undefined, run: (channel: { readonly channel?: string }) => Promise<T>): Promise<T> {
  if (named !== undefined && named.trim() !== "") return run({ channel: named });
  try {
    return await run({});
  } catch (error) {
    if (!(error instanceof AppError && error.code === "INVALID_INPUT" && error.details["reason"] === "channel")) throw error;
    // Where it is not there, the first error says more.
    return run({ channel: DEFAULT_CHANNEL }).catch((second: unknown) => {
      throw second instanceof AppError && second.code === "INVALID_INPUT" ? error : second;
    });
  }
}

const given = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };

async function send(params: MethodParams<"send">, port: MessagesPort): Promise<MethodResult<"send">> {
  const { to, accountId, threadId, message, mediaUrl, mediaUrls, gifPlayback, sessionKey, idempotencyKey } = params;
  const media = [...(mediaUrl === undefined ? [] : [mediaUrl]), ...(mediaUrls ?? [])];
  const request = given({ to, accountId, threadId, text: message, mediaUrls: media, gifPlayback, sessionKey });
  return delivered(await withChannel(params.channel, (channel) => port.send({ ...request, ...channel })), idempotencyKey);
}

async function poll(params: MethodParams<"poll">, port: MessagesPort): Promise<MethodResult<"poll">> {
  const { to, accountId, threadId, question, options, maxSelections, durationSeconds, durationHours, silent, isAnonymous, idempotencyKey } = params;
  if (durationSeconds !== undefined && durationHours !== undefined) throw new AppError("INVALID_INPUT", "set durationSeconds or durationHours, not both");
  const asked = { ...given({ question, maxSelections, durationSeconds, durationHours, isAnonymous }), options: [...options] };
  const request = { ...given({ to, accountId, threadId, silent }), poll: asked };
  return delivered(await withChannel(params.channel, (channel) => port.poll({ ...request, ...channel })), idempotencyKey);
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;
const list = (value: unknown): string[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]).flatMap((item) => text(item) ?? []);
const whole = (value: unknown): number | undefined => (typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined);

/** `send` and `poll` as actions: the same way out as for the methods, with what they do not take. */
function viaDelivery({ action, channel, accountId, params, sessionKey, dryRun }: MethodParams<"message.action">, port: MessagesPort): Promise<SentMessage> {
  const to = text(params["to"]) ?? text(params["target"]);
  if (to === undefined) throw new AppError("INVALID_INPUT", `Action ${action} requires a target.`);
  const place = given({ to, channel, accountId, threadId: text(params["threadId"]), sessionKey, dryRun, silent: params["silent"] === true ? true : undefined });
  if (action === "poll") {
    const options = list(params["pollOption"]);
    const asked = given({
      question: text(params["pollQuestion"]) ?? "",
      options,
      maxSelections: params["pollMulti"] === true ? Math.max(options.length, 1) : 1,
      durationHours: whole(params["pollDurationHours"]),
      durationSeconds: whole(params["pollDurationSeconds"]),
      isAnonymous: typeof params["pollAnonymous"] === "boolean" ? params["pollAnonymous"] : undefined,
    });
    if (asked.question === "") throw new AppError("INVALID_INPUT", "a poll needs a question");
    return port.poll({ ...place, poll: asked });
  }
  const { channelData } = params;
  const request = given({
    ...place,
    text: text(params["message"]),
    mediaUrls: list(params["media"]),
    replyToId: text(params["replyTo"]),
    gifPlayback: params["gifPlayback"] === true ? true : undefined,
    asVoice: params["asVoice"] === true ? true : undefined,
    channelData: typeof channelData === "object" && channelData !== null ? (channelData as Record<string, unknown>) : undefined,
  });
  return port.send(request);
}

async function act(params: MethodParams<"message.action">, port: MessagesPort): Promise<MethodResult<"message.action">> {
  const { action, channel, accountId, dryRun } = params;
  if (action !== "send" && action !== "poll") {
    const result = await port.action(given({ action, channel, accountId, params: params.params, dryRun }));
    return { action, ...(channel === undefined ? {} : { channel }), result };
  }
  const sent = await viaDelivery(params, port);
  const { state, why, messageIds, to } = sent;
  const answer = { action, channel: sent.channel, accountId: sent.accountId, to, state, messageIds, ...(why === undefined ? {} : { why }) };
  if (sent.dryRun) return { ...answer, dryRun: true };
  if (state !== "sent") delivered(sent, "");
  return answer;
}

async function resend(id: string, runId: string, port: MessagesPort): Promise<MethodResult<"message.resend">> {
  const rowId = /^(?:out:)?(\d{1,15})$/.exec(id.trim())?.[1];
  if (rowId === undefined)
    throw new AppError("INVALID_INPUT", `expected a delivery such as out:17, found ${JSON.stringify(id.slice(0, 80))}; openclaw why shows it`);
  return delivered(await port.resend(Number(rowId)), runId);
}

export function sendHandlers(port: MessagesPort): HandlersOf<"send" | "poll" | "message.action" | "message.resend"> {
  return {
    send: (params) => send(params, port),
    poll: (params) => poll(params, port),
    "message.action": (params) => act(params, port),
    "message.resend": ({ id, idempotencyKey }) => resend(id, idempotencyKey ?? id, port),
  };
}
