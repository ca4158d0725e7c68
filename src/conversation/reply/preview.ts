/** Shows an answer in one message while it is being written. A failure of the preview never affects the answer. */
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { wholeCharacter } from "../../channels/index.ts";
import type { ChannelPreview, ChannelPreviewAdapter } from "../../protocol/index.ts";
import { replyModeOf } from "../address.ts";
import { withoutBegunSilence } from "./payload.ts";
import type { ReplyStreamDeps } from "./reply-stream.ts";

interface PreviewDeps {
  readonly preview: ChannelPreview;
  readonly limits: Pick<ChannelPreviewAdapter, "intervalMs" | "minChars" | "maxChars">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Persists the id of the preview; see `keepPreview` of the stream. */
  readonly keep?: ((id: string | undefined) => Promise<void>) | undefined;
  /** The id that a previous process persisted. */
  readonly kept?: string | undefined;
}

interface PreviewWriter {
  /** Shows the whole text so far, at the next interval. */
  show(text: string): void;
  /** The same, but only in a preview that was already sent. */
  replace(text: string): void;
  /** Stops updates. Returns the id of the message that becomes the answer, if one was sent. */
  seal(): Promise<string | undefined>;
  /** Deletes the preview. */
  discard(): Promise<void>;
  /** A message may be there that nobody can find any more. */
  isLost(): boolean;
}

const INTERVAL_MS = 1000;
const MIN_CHARS = 30;
const MAX_INTERVAL_MS = 30_000;
const MAX_FAILURES = 6;
/** For what is under way when the answer is there. */
const END_MS = 5000;

function createPreviewWriter({ preview, limits, clock, log, keep, kept }: PreviewDeps): PreviewWriter {
  const least = limits.minChars ?? MIN_CHARS;
  const base = limits.intervalMs ?? INTERVAL_MS;
  let interval = base;
  let text = "";
  let shown = "";
  let failures = 0;
  let ended = false;
  let timer: Disposable | undefined;
  let pending: Promise<void> | undefined;

  let known = kept;
  let announced = kept !== undefined;

  /** On disk before it is posted, and again as soon as its id is known. */
  async function post(next: string): Promise<void> {
    if (!announced) await keep?.(undefined);
    announced = true;
    await preview.update(next);
    const id = preview.id?.();
    if (typeof id !== "string" || id === known) return;
    known = id;
    await keep?.(id);
  }

  function update(): void {
    timer = undefined;
    const most = limits.maxChars ?? text.length;
    const next = text.length <= most ? text : `${text.slice(0, wholeCharacter(text, most - 1))}…`;
    if (ended || pending || next === shown || failures >= MAX_FAILURES) return;
    if (shown === "" && next.length < least) return;
    pending = post(next)
      .then(
        () => {
          shown = next;
          failures = 0;
          interval = base;
        },
        (error: unknown) => {
          // It was not tried: something else has to come first.
          if (error instanceof AppError && error.code === "UNAVAILABLE") return;
          failures += 1;
          interval = Math.min(interval * 2, MAX_INTERVAL_MS);
          log.debug(`a preview could not be shown: ${messageOf(error)}`, { failures });
        },
      )
      .finally(() => {
        pending = undefined;
        if (!ended) timer ??= clock.after(interval, update);
      });
  }

  async function end(): Promise<void> {
    ended = true;
    timer?.[Symbol.dispose]();
    timer = undefined;
    if (pending) await within(clock, pending);
  }

  function show(whole: string): void {
    text = whole;
    if (!ended && !timer && !pending) update();
  }

  return {
    isLost: () => preview.id !== undefined && (preview.id() === null || (pending !== undefined && known === undefined)),
    show,
    replace(whole) {
      if (shown !== "" || pending) show(whole);
      else text = "";
    },
    async seal() {
      await end();
      const id = await within(clock, preview.seal()).catch((error: unknown) => log.debug(`a preview could not be completed: ${messageOf(error)}`));
      // One that hangs in an edit is there all the same: it becomes the answer, or stays cut off above it.
      return typeof id === "string" ? id : (preview.id?.() ?? known);
    },
    async discard() {
      await end();
      await within(clock, preview.discard()).catch((error: unknown) => log.debug(`a preview could not be removed: ${messageOf(error)}`));
    },
  };
}

/** What `work` gives, or nothing when it takes too long. */
async function within<T>(clock: Clock, work: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  using _timer = clock.after(END_MS, () => late.resolve(undefined));
  return await Promise.race([work, late.promise]);
}

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
  const context = {
    ...(threadId === undefined ? {} : { threadId }),
    // It becomes the first message of the answer, and names the message that it answers where that one would.
    ...(replyToId === undefined || replyModeOf(plugin, cfg, address) === "off" ? {} : { replyToId }),
    ...(before?.id === undefined ? {} : { previewId: before.id }),
  };
  let preview: ChannelPreview | undefined;
  try {
    preview = adapter?.open({ cfg, accountId, to, chatType, ...context, signal: ending.signal });
  } catch (error) {
    // A channel that cannot open one has none.
    log.debug(`a preview could not be opened: ${messageOf(error)}`);
  }
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
