/** Messages to WhatsApp: each has an id of our own choice, is stored before it leaves, and counts as sent when the server has acknowledged it. */
import { createHash, randomBytes } from "node:crypto";
import type { AnyMessageContent, BinaryNode, WAMessage, WAMessageKey } from "baileys";
import type { OutboundDeliveryResult, PollInput } from "openclaw/plugin-sdk";
import { asChannelError, ChannelError, messageOf, notSent, unfit, unsure } from "openclaw/plugin-sdk/channel-kit";
import { isGroup, jidOf, normalAddress } from "./address.ts";
import type { Live } from "./live.ts";
import { quietLogger } from "./session/library.ts";

const ACK_MS = 20_000;
export const MAX_POLL_OPTIONS = 12;

export interface SendOptions {
  /** The same for all attempts of one message. */
  readonly nonce?: string | undefined;
  readonly replyToId?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** In the form of other clients. The same nonce is the same id, so that a repeat is the same message to everybody. */
export function messageIdOf(nonce: string | undefined): string {
  const digits = nonce === undefined ? randomBytes(9).toString("hex") : createHash("sha256").update(`openclaw:${nonce}`).digest("hex").slice(0, 18);
  return `3EB0${digits.toUpperCase()}`;
}

/** The message that is answered, as far as it is known here. */
async function quotedOf({ authors, sent, library }: Live, to: string, jid: string, id: string): Promise<WAMessage | undefined> {
  const ours = await sent.get(id);
  if (ours) return { key: { remoteJid: jid, fromMe: true, id }, message: ours };
  const known = authors.find(to, id);
  if (!known) return undefined;
  const key: WAMessageKey = { remoteJid: jid, fromMe: false, id, ...(known.author === undefined ? {} : { participant: known.author }) };
  return { key, message: library.proto.Message.fromObject({ conversation: known.body }) };
}

/** What the server's acknowledgement says. */
function checkAck(ack: BinaryNode | undefined): void {
  if (!ack) throw unsure("send", `WhatsApp did not acknowledge the message within ${ACK_MS / 1000} s`);
  const error = ack.tag === "ack" ? ack.attrs["error"] : undefined;
  if (error === undefined) return;
  const code = Number(error);
  const why =
    code === 463
      ? "the account cannot start new chats at the moment: WhatsApp restricted it (463)"
      : code === 403
        ? "this account cannot write there: it left the group or was removed (403)"
        : code === 404
          ? "there is no such chat, or the number is not on WhatsApp (404)"
          : `error ${error}`;
  // The server is at fault, or asks for patience.
  const isPassing = code >= 500 || code === 429;
  throw new ChannelError(`WhatsApp refused the message: ${why}`, {
    action: "send",
    status: code,
    delivery: { state: isPassing ? "retry" : "failed" },
    reason: error,
  });
}

/** What went wrong before the message left. */
function beforeLeaving(error: unknown): ChannelError {
  const known = asChannelError(error);
  if (known) return known;
  const code = (error as { data?: unknown }).data;
  if (code === 403 || code === 404 || code === 401)
    return new ChannelError(`WhatsApp does not know this chat (${messageOf(error)}): this account is not in it, or it was deleted`, {
      action: "send",
      status: code,
      delivery: { state: "failed" },
    });
  return notSent("send", `the message could not be sent: ${messageOf(error)}`);
}

/** Puts a message on its way. What it throws happened before the message left. */
async function dispatch(
  live: Live,
  to: string,
  content: AnyMessageContent,
  id: string,
  options: SendOptions,
): Promise<{ readonly ack: Promise<BinaryNode | undefined> }> {
  const { socket, library, sent, lane } = live;
  const jid = jidOf(to);
  const quoted = options.replyToId ? await quotedOf(live, normalAddress(to) ?? to, jid, options.replyToId) : undefined;
  const { message } = await library.generateWAMessage(jid, content, {
    logger: quietLogger(),
    userJid: socket.user?.id ?? "",
    messageId: id,
    upload: socket.waUploadToServer,
    ...(quoted ? { quoted } : {}),
  });
  options.signal?.throwIfAborted();
  if (!message) throw unfit("send", "there is nothing to send");
  if (!("react" in content)) await sent.put(id, message);
  const additionalNodes = "poll" in content ? [{ tag: "meta", attrs: { polltype: "creation" } }] : [];
  return lane(async () => {
    const ack = socket.waitForMessage<BinaryNode | undefined>(id, ACK_MS);
    // It only matters once the message has left.
    ack.catch(() => {});
    await socket.relayMessage(jid, message, { messageId: id, additionalNodes });
    return { ack };
  });
}

/** Sends one message. Resolves when the server has it. */
export async function transmit(live: Live, to: string, content: AnyMessageContent, options: SendOptions = {}): Promise<OutboundDeliveryResult> {
  const id = messageIdOf(options.nonce);
  const { ack } = await dispatch(live, to, content, id, options).catch((error: unknown) => Promise.reject(beforeLeaving(error)));
  let answer: BinaryNode | undefined;
  try {
    answer = await ack;
  } catch (error) {
    throw unsure("send", `the connection was lost before WhatsApp acknowledged the message: ${messageOf(error)}`);
  }
  checkAck(answer);
  return { channel: "whatsapp", messageId: id, chatId: normalAddress(to) ?? to, toJid: jidOf(to), timestamp: Date.now() };
}

/** The text as WhatsApp formats it. A link is never looked up: that would tell its server who reads here. */
export const textContent = (text: string): AnyMessageContent => ({ text, linkPreview: null });

export function pollContent({ question, options, maxSelections = 1 }: PollInput): AnyMessageContent {
  const values = options.map((option) => option.trim()).filter(Boolean);
  if (question.trim() === "" || values.length < 2 || values.length > MAX_POLL_OPTIONS)
    throw unfit("poll", `a poll has a question and 2 to ${MAX_POLL_OPTIONS} options; there are ${values.length}`);
  if (new Set(values).size < values.length) throw unfit("poll", "two options of a poll are the same");
  if (!Number.isInteger(maxSelections) || maxSelections < 1 || maxSelections > values.length)
    throw unfit("poll", `maxSelections is a whole number from 1 to ${values.length}, not ${maxSelections}`);
  return { poll: { name: question, values, selectableCount: maxSelections } };
}

export interface Reaction {
  readonly to: string;
  readonly messageId: string;
  /** Empty: ours is taken away. */
  readonly emoji: string;
  /** Who wrote the message, where this process does not know it. */
  readonly participant?: string | undefined;
  readonly fromMe?: boolean | undefined;
}

export async function sendReaction(live: Live, { to, messageId, emoji, participant, fromMe }: Reaction): Promise<void> {
  const jid = jidOf(to);
  const isOurs = fromMe ?? (await live.sent.get(messageId)) !== undefined;
  const author = participant === undefined ? live.authors.find(normalAddress(to) ?? to, messageId)?.author : jidOf(participant);
  if (isGroup(jid) && !isOurs && author === undefined)
    throw unfit("react", `the author of message ${messageId} is unknown; set participant, the author's number`);
  const key: WAMessageKey = { remoteJid: jid, id: messageId, fromMe: isOurs, ...(author === undefined || isOurs ? {} : { participant: author }) };
  await transmit(live, to, { react: { text: emoji, key } });
}
