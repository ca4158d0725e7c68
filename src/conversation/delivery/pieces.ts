/** Text in pieces, one for each message of a platform. */
import { messageOf } from "../../base/errors.ts";
import {
  chunkByParagraph,
  chunkMarkdownTextWithMode,
  chunkTextWithMode,
  resolveChunkMode,
  resolveMarkdownTableMode,
  resolveTextChunkLimit,
  splitRich,
} from "../../channels/index.ts";
import type { ChannelOutboundAdapter, ChunkMode, RichText } from "../../protocol/index.ts";
import type { DeliveryDeps } from "./deps.ts";

export interface Piece {
  readonly text: string;
  readonly rich?: RichText;
}

/** Where pieces go, as far as it decides their size. */
export interface PieceTarget {
  readonly channel: string;
  readonly accountId: string;
  readonly outbound: ChannelOutboundAdapter | undefined;
}

export type PieceDeps = Pick<DeliveryDeps, "config" | "log"> & Required<Pick<DeliveryDeps, "richText">>;

/** What a channel's own chunker makes of a text; ours where it throws or gives nothing. */
function chunked(text: string, limit: number, mode: ChunkMode, { outbound, channel }: PieceTarget, log: DeliveryDeps["log"]): readonly string[] {
  const ours = (): string[] => (outbound?.chunkerMode === "text" ? chunkTextWithMode(text, limit, mode) : chunkMarkdownTextWithMode(text, limit, mode));
  if (!outbound) return ours();
  const { chunker, chunkerMode } = outbound;
  if (typeof chunker !== "function") return chunker === null || chunkerMode === undefined ? [text] : ours();
  try {
    const parts = mode === "newline" ? chunkByParagraph(text, limit, { splitLongParagraphs: false }) : [text];
    const pieces = parts.flatMap((part) => chunker(part, limit)).filter((piece) => typeof piece === "string" && piece.trim() !== "");
    if (pieces.length > 0) return pieces;
    log.warn(`the chunker of ${channel} made nothing of a text of ${text.length} characters; ours is used`, { channel });
  } catch (error) {
    log.warn(`the chunker of ${channel} failed, ours is used: ${messageOf(error)}`, { channel });
  }
  return ours();
}

/** Pieces of a text as its channel takes them. */
export async function piecesOf(text: string, target: PieceTarget, deps: PieceDeps): Promise<readonly Piece[]> {
  if (text.trim() === "") return [];
  const { channel, accountId, outbound } = target;
  const cfg = deps.config();
  const limit = resolveTextChunkLimit(cfg, channel, accountId, { fallbackLimit: outbound?.textChunkLimit });
  const mode = resolveChunkMode(cfg, channel, accountId);
  if (outbound?.chunkerMode !== "rich") return chunked(text, limit, mode, target, deps.log).map((piece) => ({ text: piece }));
  try {
    const { parseMarkdown } = await deps.richText();
    const rich = parseMarkdown(text, { tables: resolveMarkdownTableMode({ cfg, channel, accountId }) });
    const pieces = splitRich(rich, limit, { mode }).filter((piece) => piece.text.trim() !== "");
    if (pieces.length > 0) return pieces.map((piece) => ({ text: piece.text, rich: piece }));
  } catch (error) {
    deps.log.error(`a text for ${channel} could not be formatted and goes out plain: ${messageOf(error)}`, { channel });
  }
  return chunkTextWithMode(text, limit, mode).map((piece) => ({ text: piece }));
}

const CAPTION_LIMIT = 1024;

/** The text under a picture, when all of it fits there. */
export function captionOf(pieces: readonly Piece[], outbound: ChannelOutboundAdapter | undefined): Piece | undefined {
  const [only, more] = pieces;
  return only && !more && only.text.length <= (outbound?.captionLimit ?? CAPTION_LIMIT) ? only : undefined;
}
