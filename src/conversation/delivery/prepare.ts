/** A reply on its way to the disk: hooks, pieces, rows. */
import { maskValue } from "../../base/secret-search.ts";
import type { ChannelPlugin, ReplyPayload } from "../../protocol/index.ts";
import type { OutboxInput } from "../../store/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { OutgoingFacts, PreparedReply } from "./delivery.ts";
import type { DeliveryDeps, DeliveryLimits } from "./deps.ts";
import { repeatPauseMs } from "./recovery.ts";
import { captionOf, piecesOf, type Piece, type PieceDeps } from "./pieces.ts";
import { replyReference, type AnsweredTurns, type ReplyReference } from "./reply-to.ts";
import type { RowPayload } from "./row-payload.ts";
import { mediaOf, runSendingHooks, type Cancelled, type PayloadFacts } from "./sending-hooks.ts";

export type PrepareDeps = Pick<DeliveryDeps, "hooks" | "table" | "clock" | "ids" | "redact"> & PieceDeps;
type Draft = Pick<RowPayload, "text" | "rich" | "mediaUrl">;

const MOST_LOGGED = 20;
const LOST_PREVIEW = "nobody knows whether the message that showed its first words was posted; the answer is sent once, marked, when the chat is known to work";

const isWeb = (url: string): boolean => /^https?:\/\//i.test(url.trim());

/** Files first, the text under the first one where it fits; a channel without files gets their addresses. */
async function drafts(
  payload: ReplyPayload,
  address: ReplyAddress,
  plugin: ChannelPlugin | undefined,
  deps: PrepareDeps,
  isLive: boolean,
): Promise<readonly Draft[]> {
  const outbound = plugin?.outbound;
  const media = mediaOf(payload);
  const asText = media.length > 0 && !isLive && outbound !== undefined && !outbound.sendMedia && !(payload.channelData && outbound.sendPayload);
  const text = asText ? [payload.text?.trim(), ...media.filter(isWeb)].filter(Boolean).join("\n\n") : (payload.text ?? "");
  const pieces = await piecesOf(text, { channel: address.channel, accountId: address.accountId, outbound }, deps);
  if (media.length === 0 || asText) return pieces;
  const caption = captionOf(pieces, outbound);
  const files = media.map((mediaUrl, index): Draft => ({ ...(index === 0 && caption ? caption : { text: "" }), mediaUrl }));
  return caption ? files : [...files, ...pieces];
}

/** What all rows of a payload have in common. */
function sharedFields(payload: ReplyPayload, address: ReplyAddress, facts: OutgoingFacts, hooks: readonly string[]): Omit<RowPayload, "text"> {
  return {
    kind: facts.kind,
    ...(address.threadId === undefined ? {} : { threadId: address.threadId }),
    ...(payload.audioAsVoice ? { audioAsVoice: true } : {}),
    ...(payload.isError ? { isError: true } : {}),
    ...(facts.silent ? { silent: true } : {}),
    ...(facts.gifPlayback ? { gifPlayback: true } : {}),
    ...(facts.agentId === undefined ? {} : { agentId: facts.agentId }),
    ...(facts.senderId === undefined ? {} : { senderId: facts.senderId }),
    ...(facts.messageId === undefined ? {} : { messageId: facts.messageId }),
    ...(facts.traceId === undefined ? {} : { traceId: facts.traceId }),
    ...(facts.idempotencyKey === undefined ? {} : { sendKey: facts.idempotencyKey }),
    ...(facts.live === undefined ? {} : { live: facts.live }),
    ...(hooks.length === 0 ? {} : { hooks }),
  };
}

/** Rows of one payload. What only its channel understands goes with the last of them: buttons stand under the end of a text. */
function rowsOf(payload: ReplyPayload, parts: readonly Draft[], shared: Omit<RowPayload, "text">, reply: ReplyReference): RowPayload[] {
  const { channelData } = payload;
  return parts.map((part, index) => ({
    ...shared,
    ...part,
    ...(reply.id !== undefined && (reply.rows === "all" || (reply.rows === "first" && index === 0)) ? { replyToId: reply.id } : {}),
    ...(channelData && index === parts.length - 1 ? { channelData } : {}),
  }));
}

/** The first message without a file takes the place of the preview, or the first one at all. */
function withPreview(rows: readonly RowPayload[], previewId: string | undefined): readonly RowPayload[] {
  if (previewId === undefined || rows.length === 0) return rows;
  const at = Math.max(
    0,
    rows.findIndex(({ mediaUrl, poll }) => mediaUrl === undefined && !poll),
  );
  return rows.map((row, index) => (index === at ? { ...row, previewId } : row));
}

/** The first message with words is the repeat of a preview that may be there. */
function withLostPreview(rows: readonly RowPayload[], isPreviewLost: boolean | undefined): readonly RowPayload[] {
  const at = isPreviewLost === true ? rows.findIndex(({ text }) => text !== "") : -1;
  return at < 0 ? rows : rows.map((row, index) => (index === at ? { ...row, isPreviewLost: true } : row));
}

function pollRow(payload: ReplyPayload, facts: OutgoingFacts, shared: Omit<RowPayload, "text">): RowPayload[] {
  return facts.poll ? [{ ...shared, text: "", poll: { ...facts.poll, question: payload.text ?? facts.poll.question } }] : [];
}

interface Said {
  /** As plugins left it, and whether one of them changed or cancelled it. */
  readonly text?: string | undefined;
  readonly changed: boolean;
  readonly rows: readonly RowPayload[];
  readonly cancelled?: RowPayload & { readonly why: string };
  readonly suppressed?: string;
}

async function sayOf(given: ReplyPayload, address: ReplyAddress, facts: PayloadFacts, deps: PrepareDeps, answered: AnsweredTurns): Promise<Said> {
  const plugin = deps.table.get(address.channel);
  const { payload: decided, cancelled, hooks, log } = await runSendingHooks(given, address, facts, deps);
  // After plugins had their say: whoever wrote it, what leaves has no secret of the gateway in it.
  const payload = deps.redact ? { ...decided, ...maskValue({ text: decided.text, channelData: decided.channelData }, deps.redact) } : decided;
  const shared = sharedFields(payload, address, facts, hooks);
  /** The first row tells what was said about the whole payload. */
  const told = <R extends RowPayload>(rows: readonly R[]): R[] =>
    rows.map((row, index) => (index === 0 && log.length > 0 ? { ...row, hookLog: log.slice(0, MOST_LOGGED) } : row));
  if (cancelled) return { changed: true, rows: [], cancelled: told([cancelledRow(payload, shared, cancelled)])[0]!, suppressed: cancelled.why };
  const said = { text: payload.text, changed: decided !== given };
  if (facts.poll) return { ...said, rows: told(pollRow(payload, facts, shared)) };
  const parts: readonly Draft[] = await drafts(payload, address, plugin, deps, facts.live !== undefined);
  const shown: readonly Draft[] = parts.length === 0 && payload.channelData ? [{ text: "" } satisfies Piece] : parts;
  if (shown.length === 0) return { ...said, rows: [], suppressed: mediaOf(payload).length > 0 ? "media_not_supported" : "empty" };
  return { ...said, rows: told(rowsOf(payload, shown, shared, replyReference(payload, address, facts, { plugin, cfg: deps.config(), answered }))) };
}

function cancelledRow(payload: ReplyPayload, shared: Omit<RowPayload, "text">, { why, metadata }: Cancelled): RowPayload & { readonly why: string } {
  const [mediaUrl] = mediaOf(payload);
  return { ...shared, text: payload.text ?? "", ...(mediaUrl === undefined ? {} : { mediaUrl }), ...(metadata ? { metadata } : {}), why };
}

/** Makes replies into writes. Plugins' code that throws costs at most its own part of a reply. */
export function createPrepare(deps: PrepareDeps, limits: DeliveryLimits, answered: AnsweredTurns) {
  return async function prepare(address: ReplyAddress, payloads: readonly ReplyPayload[], facts: OutgoingFacts): Promise<PreparedReply> {
    const all = facts.poll ? [{ text: facts.poll.question }] : payloads;
    const said: Said[] = [];
    for (const [index, payload] of all.entries())
      said.push(await sayOf(payload, address, { ...facts, isBetween: index < (facts.between ?? 0) }, deps, answered));
    const rowsSaid = said.flatMap(({ rows }) => rows);
    const sent = withLostPreview(withPreview(rowsSaid, facts.previewId), facts.isPreviewLost);
    const expiresAt = deps.clock.now() + limits.expireMs;
    const repeatPause = repeatPauseMs(deps.table.get(address.channel), limits);
    const key = facts.idempotencyKey ?? facts.live;
    const turnId = facts.runId ?? (key === undefined ? undefined : `send:${key}`);
    const row = (payload: RowPayload, suppressed?: string): OutboxInput => ({
      // Some platforms take 25 characters at most.
      nonce: `oc-${deps.ids.hex(10)}`,
      channel: address.channel,
      account: address.accountId,
      target: address.to,
      payload,
      expiresAt,
      turnId,
      sessionKey: facts.sessionKey,
      ...(suppressed === undefined ? {} : { suppressed }),
      // One that is put into a message whose id is known is no repeat.
      ...(payload.isPreviewLost && payload.previewId === undefined ? { mayHaveArrived: LOST_PREVIEW, notBefore: deps.clock.now() + repeatPause } : {}),
    });
    const cancelled = said.flatMap(({ cancelled: one }) => (one ? [one] : []));
    const rows = [...cancelled.map(({ why, ...payload }) => row(payload, why)), ...sent.map((payload) => row(payload))];
    return {
      writes: rows.length === 0 ? [] : [["outbox.add", { rows }]],
      texts: sent.map(({ text, poll }) => poll?.question ?? text),
      suppressed: said.flatMap(({ suppressed }) => (suppressed === undefined ? [] : [suppressed])),
      ...(said.some(({ changed }) => changed) ? { decided: said.flatMap(({ text }) => (text ? [text] : [])) } : {}),
    };
  };
}
