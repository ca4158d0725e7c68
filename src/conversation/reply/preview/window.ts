/** The preview of an answer: thoughts first, where they are wanted, then its text so far. */
import { messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { ChannelPreview } from "../../../protocol/index.ts";
import { replyModeOf } from "../../delivery/reply-to.ts";
import type { ReplyStreamDeps } from "../stream-deps.ts";
import { withoutBegunSilence } from "../shape/silence.ts";
import { createPreviewWriter } from "./preview.ts";

export interface PreviewWindow {
  /** Words of the answer that is being written. */
  words(words: string): void;
  /** What was shown is void: another text takes its place. */
  restart(): void;
  thoughts(text: string): void;
  /** The id of the message that becomes the answer. */
  seal(): Promise<string | undefined>;
  discard(): Promise<void>;
  /** A message may be there that nobody can find any more. */
  isLost(): boolean;
}

const MAX_CHARS = 4096;
/** Stands in a message whose text was taken back until there is another one. */
const NOTHING_YET = "…";

/** A channel that cannot open one has none. */
function opened(log: Logger, open: () => ChannelPreview | undefined): ChannelPreview | undefined {
  try {
    return open();
  } catch (error) {
    log.debug(`a preview could not be opened: ${messageOf(error)}`);
    return undefined;
  }
}

/** Undefined where the channel has none here. */
export function openPreviewWindow({
  plugin,
  address,
  cfg,
  clock,
  log,
  keepPreview,
  preview: before,
}: Pick<ReplyStreamDeps, "plugin" | "address" | "cfg" | "clock" | "log" | "keepPreview" | "preview">): PreviewWindow | undefined {
  const adapter = plugin?.preview;
  const { accountId, to, threadId, replyToId, chatType } = address;
  const ending = new AbortController();
  const place = {
    ...(threadId === undefined ? {} : { threadId }),
    // It becomes the first message of the answer, and names the message that it answers where that one would.
    ...(replyToId === undefined || replyModeOf(plugin, cfg, address) === "off" ? {} : { replyToId }),
    ...(before?.id === undefined ? {} : { previewId: before.id }),
  };
  const preview = opened(log, () => adapter?.open({ cfg, accountId, to, chatType, ...place, signal: ending.signal }));
  if (!adapter || !preview) return undefined;
  const most = adapter.maxChars ?? MAX_CHARS;
  const writer = createPreviewWriter({ preview, limits: { ...adapter, maxChars: most }, clock, log, keep: keepPreview, kept: before?.id });
  let text = "";

  return {
    isLost: () => (before !== undefined && before.id === undefined) || writer.isLost(),
    words(words) {
      // What would be cut anyway is not kept.
      if (text.length > most) return;
      text += words.slice(0, most + 1);
      const shown = withoutBegunSilence(text).trimEnd();
      if (shown !== "") writer.show(shown);
    },
    restart() {
      if (text !== "") writer.replace(NOTHING_YET);
      text = "";
    },
    thoughts(thoughts) {
      if (text === "" && thoughts.trim() !== "") writer.show(`Reasoning:\n${thoughts.slice(0, most)}`);
    },
    async seal() {
      const id = await writer.seal();
      ending.abort();
      return id;
    },
    async discard() {
      await writer.discard();
      ending.abort();
    },
  };
}
