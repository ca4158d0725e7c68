/** A reply on its way to the disk: hooks, pieces, rows. */
import { messageOf } from "../../base/errors.ts";
import { maskValue } from "../../base/secret-search.ts";
import {
  chunkByParagraph,
  chunkMarkdownTextWithMode,
  chunkTextWithMode,
  resolveChunkMode,
  resolveMarkdownTableMode,
  resolveTextChunkLimit,
  splitRich,
} from "../../channels/index.ts";
import { getFileExtension, mediaKindFromMime, mimeForExtension } from "../../media/index.ts";
import type { ChannelOutboundAdapter, ChunkMode, RichText, ChannelPlugin, HostConfig, ReplyPayload } from "../../protocol/index.ts";
import type { OutboxInput } from "../../store/index.ts";
import { replyModeOf, type ReplyAddress } from "../address.ts";
import { MARK_CHARS, type RowPayload } from "./attempt.ts";
import type { DeliveryDeps, OutgoingFacts, PreparedReply, DeliveryLimits } from "./delivery.ts";
import { repeatPauseMs } from "./recovery.ts";
import { asksBeforeSending, mediaOf, runSendingHooks, type Cancelled, type HookedPayload, type PayloadFacts } from "./message-hooks.ts";

interface Piece {
  readonly text: string;
  readonly rich?: RichText;
}

/** Where pieces go, as far as it decides their size. */
interface PieceTarget {
  readonly channel: string;
  readonly accountId: string;
  readonly outbound: ChannelOutboundAdapter | undefined;
}

type PieceDeps = Pick<DeliveryDeps, "config" | "log"> & Required<Pick<DeliveryDeps, "richText">>;

/** What a channel's own chunker makes of a text; ours where it throws or gives nothing. */
function chunked(text: string, limit: number, mode: ChunkMode, { outbound, channel, accountId }: PieceTarget, { config, log }: PieceDeps): readonly string[] {
  const ours = (): string[] => (outbound?.chunkerMode === "text" ? chunkTextWithMode(text, limit, mode) : chunkMarkdownTextWithMode(text, limit, mode));
  if (!outbound) return ours();
  const { chunker, chunkerMode } = outbound;
  if (typeof chunker !== "function") return chunker === null || chunkerMode === undefined ? [text] : ours();
  try {
    const parts = mode === "newline" ? chunkByParagraph(text, limit, { splitLongParagraphs: false }) : [text];
    const pieces = parts
      .flatMap((part) => chunker(part, limit, { cfg: config(), accountId }))
      .filter((piece) => typeof piece === "string" && piece.trim() !== "");
    if (pieces.length > 0) return pieces;
    log.warn(`the chunker of ${channel} returned nothing for a text of ${text.length} characters; the default one is used`, { channel });
  } catch (error) {
    log.warn(`the chunker of ${channel} failed, the default one is used: ${messageOf(error)}`, { channel });
  }
  return ours();
}

/** Below this there would be more mark than text. */
const SHORT_LIMIT = 100;

/** A piece that is sent late or again has a mark before it, and still fits. */
const withoutMark = (limit: number): number => (limit < SHORT_LIMIT ? limit : limit - MARK_CHARS);

/** Pieces of a text as its channel takes them. */
async function piecesOf(text: string, target: PieceTarget, deps: PieceDeps): Promise<readonly Piece[]> {
  if (text.trim() === "") return [];
  const { channel, accountId, outbound } = target;
  const cfg = deps.config();
  const limit = withoutMark(resolveTextChunkLimit(cfg, channel, accountId, { fallbackLimit: outbound?.textChunkLimit }));
  const mode = resolveChunkMode(cfg, channel, accountId);
  if (outbound?.chunkerMode !== "rich") return chunked(text, limit, mode, target, deps).map((piece) => ({ text: piece }));
  try {
    const { parseMarkdown } = await deps.richText();
    const rich = parseMarkdown(text, { tables: resolveMarkdownTableMode({ cfg, channel, accountId }) });
    const pieces: Piece[] = [];
    for (const piece of splitRich(rich, limit, { mode, measure: outbound.measureText }))
      if (piece.text.trim() !== "") pieces.push({ text: piece.text, rich: piece });
    if (pieces.length > 0) return pieces;
  } catch (error) {
    deps.log.error(`a text for ${channel} could not be formatted and is sent as plain text: ${messageOf(error)}`, { channel });
  }
  return chunkTextWithMode(text, limit, mode).map((piece) => ({ text: piece }));
}

const CAPTION_LIMIT = 1024;

/** The text under a picture, when all of it fits there. */
function captionOf(pieces: readonly Piece[], outbound: ChannelOutboundAdapter | undefined): Piece | undefined {
  const [only, more] = pieces;
  return only && !more && only.text.length <= withoutMark(outbound?.captionLimit ?? CAPTION_LIMIT) ? only : undefined;
}

/** Which rows of a payload name the message that they answer. */
interface ReplyReference {
  readonly id?: string;
  readonly rows: "none" | "first" | "all";
}

const NONE: ReplyReference = { rows: "none" };

/** Turns that have answered their message once, for `replyToMode: first`. Bounded. */
export class AnsweredTurns {
  private readonly keys = new Set<string>();
  private static readonly MAX = 2000;

  has(key: string): boolean {
    return this.keys.has(key);
  }

  add(key: string): void {
    this.keys.add(key);
    if (this.keys.size <= AnsweredTurns.MAX) return;
    for (const oldest of this.keys) return void this.keys.delete(oldest);
  }
}

/** Off, the first message of a turn, or all of them; a tag of the model says more than the mode, where the channel allows that. */
function replyReference(
  payload: ReplyPayload,
  address: ReplyAddress,
  facts: OutgoingFacts,
  { plugin, cfg, answered }: { readonly plugin: ChannelPlugin | undefined; readonly cfg: HostConfig; readonly answered: AnsweredTurns },
): ReplyReference {
  const tagged = payload.replyToTag === true || payload.replyToCurrent === true;
  const id = payload.replyToId ?? address.replyToId;
  if (id === undefined || id === "") return NONE;
  // The caller named the message.
  if (facts.kind === "send") return { id, rows: "first" };
  const threading = plugin?.threading;
  const mode = replyModeOf(plugin, cfg, address);
  if (mode === "off") {
    const allowed = threading?.allowExplicitReplyTagsWhenOff ?? threading?.allowTagsWhenOff ?? true;
    return tagged && allowed ? { id, rows: "all" } : NONE;
  }
  if (mode === "all" || tagged) return { id, rows: "all" };
  const key = `${facts.runId ?? id}\n${address.channel}\n${address.accountId}\n${address.to}`;
  if (answered.has(key)) return NONE;
  answered.add(key);
  return { id, rows: "first" };
}

type PrepareDeps = Pick<DeliveryDeps, "hooks" | "table" | "clock" | "ids" | "redact"> & PieceDeps;
type Draft = Pick<RowPayload, "text" | "rich" | "mediaUrl" | "mediaUrls">;

const MOST_LOGGED = 20;
const LOST_PREVIEW = "it is unknown whether the preview was posted; the answer is sent once, marked as a repeat, when the chat is known to work";

const isWeb = (url: string): boolean => /^https?:\/\//i.test(url.trim());

/** What may stand beside each other in an album that is not mixed. Animations stand alone. */
function albumFamily(url: string): string {
  const extension = getFileExtension(url) ?? "";
  const kind = mediaKindFromMime(mimeForExtension(extension));
  return extension === ".gif" ? "" : kind === "image" || kind === "video" ? "visual" : kind === "audio" ? kind : "document";
}

/** Files that are sent together, in their order. */
function albumsOf(media: readonly string[], albums: ChannelOutboundAdapter["albums"]): readonly [string, ...string[]][] {
  const groups: [string, ...string[]][] = [];
  for (const url of media) {
    const last = groups.at(-1);
    const family = albumFamily(url);
    const isAlike = last !== undefined && (albums?.mixed === true || (family !== "" && family === albumFamily(last[0])));
    if (last && isAlike && last.length < (albums?.most ?? 1)) last.push(url);
    else groups.push([url]);
  }
  return groups;
}

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
  // A spoken message has no text under it on most platforms, and stands alone.
  const isVoice = payload.audioAsVoice === true;
  const caption = isVoice ? undefined : captionOf(pieces, outbound);
  const files = albumsOf(media, isVoice || isLive ? undefined : outbound?.albums).map((urls, index): Draft => ({
    ...(index === 0 && caption ? caption : { text: "" }),
    mediaUrl: urls[0],
    ...(urls.length > 1 ? { mediaUrls: urls } : {}),
  }));
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
function withPreview(rows: readonly RowPayload[], previewId: string): readonly RowPayload[] {
  const at = Math.max(
    0,
    rows.findIndex(({ mediaUrl, poll }) => mediaUrl === undefined && !poll),
  );
  return rows.map((row, index) => (index === at ? { ...row, previewId } : row));
}

/** The first message with words is the repeat of a preview that may be there. */
function withLostPreview(rows: readonly RowPayload[]): readonly RowPayload[] {
  const at = rows.findIndex(({ text }) => text !== "");
  return at < 0 ? rows : rows.map((row, index) => (index === at ? { ...row, isPreviewLost: true } : row));
}

function pollRow(payload: ReplyPayload, facts: OutgoingFacts, shared: Omit<RowPayload, "text">): RowPayload[] {
  return facts.poll ? [{ ...shared, text: "", poll: { ...facts.poll, question: payload.text ?? facts.poll.question } }] : [];
}

interface Shaped {
  /** As plugins left it, and whether one of them changed or cancelled it. */
  readonly text?: string | undefined;
  readonly changed: boolean;
  readonly rows: readonly RowPayload[];
  readonly cancelled?: RowPayload & { readonly why: string };
  readonly suppressed?: string;
}

async function shapeReply(original: ReplyPayload, address: ReplyAddress, facts: PayloadFacts, deps: PrepareDeps, answered: AnsweredTurns): Promise<Shaped> {
  const plugin = deps.table.get(address.channel);
  const asked: HookedPayload = asksBeforeSending(deps.hooks)
    ? await runSendingHooks(original, address, facts, deps)
    : { payload: original, hooks: [], log: [] };
  const { payload: decided, cancelled, hooks, log } = asked;
  // After plugins have decided: what leaves has no secret of the gateway in it.
  const payload = deps.redact ? { ...decided, ...maskValue({ text: decided.text, channelData: decided.channelData }, deps.redact) } : decided;
  const shared = sharedFields(payload, address, facts, hooks);
  /** The first row has what plugins answered about the whole payload. */
  const logged = <R extends RowPayload>(row: R): R => (log.length === 0 ? row : { ...row, hookLog: log.slice(0, MOST_LOGGED) });
  if (cancelled) return { changed: true, rows: [], cancelled: logged(cancelledRow(payload, shared, cancelled)), suppressed: cancelled.why };
  const shaped = { text: payload.text, changed: decided !== original };
  if (facts.poll) return { ...shaped, rows: pollRow(payload, facts, shared).map(logged) };
  const parts: readonly Draft[] = await drafts(payload, address, plugin, deps, facts.live !== undefined);
  const shown: readonly Draft[] = parts.length === 0 && payload.channelData ? [{ text: "" } satisfies Piece] : parts;
  if (shown.length === 0) return { ...shaped, rows: [], suppressed: mediaOf(payload).length > 0 ? "media_not_supported" : "empty" };
  const rows = rowsOf(payload, shown, shared, replyReference(payload, address, facts, { plugin, cfg: deps.config(), answered }));
  return { ...shaped, rows: log.length === 0 ? rows : rows.map((row, index) => (index === 0 ? logged(row) : row)) };
}

function cancelledRow(payload: ReplyPayload, shared: Omit<RowPayload, "text">, { why, metadata }: Cancelled): RowPayload & { readonly why: string } {
  const [mediaUrl] = mediaOf(payload);
  return { ...shared, text: payload.text ?? "", ...(mediaUrl === undefined ? {} : { mediaUrl }), ...(metadata ? { metadata } : {}), why };
}

/** Makes replies into writes. Plugins' code that throws costs at most its own part of a reply. */
export function createPrepare(deps: PrepareDeps, limits: DeliveryLimits, answered: AnsweredTurns) {
  return async function prepare(address: ReplyAddress, payloads: readonly ReplyPayload[], facts: OutgoingFacts): Promise<PreparedReply> {
    const all = facts.poll ? [{ text: facts.poll.question }] : payloads;
    const plain: RowPayload[] = [];
    const cancelled: NonNullable<Shaped["cancelled"]>[] = [];
    const suppressed: string[] = [];
    const decided: string[] = [];
    let isChanged = false;
    for (const [index, payload] of all.entries()) {
      const shaped = await shapeReply(payload, address, { ...facts, isBetween: index < (facts.between ?? 0) }, deps, answered);
      plain.push(...shaped.rows);
      if (shaped.cancelled) cancelled.push(shaped.cancelled);
      if (shaped.suppressed !== undefined) suppressed.push(shaped.suppressed);
      if (shaped.text) decided.push(shaped.text);
      isChanged ||= shaped.changed;
    }
    const previewed = facts.previewId === undefined ? plain : withPreview(plain, facts.previewId);
    const sent = facts.isPreviewLost === true ? withLostPreview(previewed) : previewed;
    const now = deps.clock.now();
    const key = facts.idempotencyKey ?? facts.live;
    const turnId = facts.runId ?? (key === undefined ? undefined : `send:${key}`);
    const row = (payload: RowPayload, why?: string): OutboxInput => ({
      // Some platforms take 25 characters at most.
      nonce: `oc-${deps.ids.hex(10)}`,
      channel: address.channel,
      account: address.accountId,
      target: address.to,
      payload,
      expiresAt: now + limits.expireMs,
      turnId,
      sessionKey: facts.sessionKey,
      ...(why === undefined ? {} : { suppressed: why }),
      // One that is put into a message whose id is known is no repeat.
      ...(payload.isPreviewLost && payload.previewId === undefined
        ? { mayHaveArrived: LOST_PREVIEW, notBefore: now + repeatPauseMs(deps.table.get(address.channel), limits) }
        : {}),
    });
    const rows = [...cancelled.map(({ why, ...payload }) => row(payload, why)), ...sent.map((payload) => row(payload))];
    return {
      writes: rows.length === 0 ? [] : [["outbox.add", { rows }]],
      texts: sent.map(({ text, poll }) => poll?.question ?? text),
      suppressed,
      ...(isChanged ? { decided } : {}),
    };
  };
}
