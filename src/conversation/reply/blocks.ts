/** Answers in blocks: the settings, where text may be cut, and the writer that puts small pieces together. */
import type { Clock } from "../../base/clock.ts";
import { channelSections, resolveHumanDelayConfig, resolveTextChunkLimit, sectionOf, findFences, wholeCharacter, type Fence } from "../../channels/index.ts";
import type { ChannelPlugin, HostConfig, HumanDelayConfig } from "../../protocol/index.ts";

export type BreakPreference = "paragraph" | "newline" | "sentence";

export interface ChunkSettings {
  /** Nothing shorter is cut off, unless the answer ends. */
  readonly minChars: number;
  readonly maxChars: number;
  readonly breakPreference: BreakPreference;
}

interface CoalesceSettings {
  readonly minChars: number;
  readonly maxChars: number;
  /** A block goes out when no other came for this long. */
  readonly idleMs: number;
}

export interface BlockSettings {
  readonly enabled: boolean;
  /** The channel's own setting says so; otherwise a preview goes before. */
  readonly explicit: boolean;
  /** `message_end`: nothing goes out before an answer of the model is complete. */
  readonly breakAt: "text_end" | "message_end";
  readonly chunk: ChunkSettings;
  readonly coalesce: CoalesceSettings;
  readonly humanDelay: HumanDelayConfig | undefined;
}

interface BlockTarget {
  readonly plugin: Pick<ChannelPlugin, "capabilities" | "outbound" | "streaming"> | undefined;
  readonly channel: string;
  readonly accountId: string;
  readonly agentId: string;
}

const MIN_CHARS = 800;
const MAX_CHARS = 1200;
const IDLE_MS = 1000;

const numberIn = (section: unknown, key: string, least: number): number | undefined => {
  const value = sectionOf(section)?.[key];
  return typeof value === "number" && Number.isFinite(value) && value >= least ? Math.floor(value) : undefined;
};

const isPreference = (value: unknown): value is BreakPreference => value === "paragraph" || value === "newline" || value === "sentence";

/** Whether answers come in blocks: the account's setting, the channel's, the agents' default. */
export function blockMode(cfg: HostConfig, { plugin, channel, accountId }: BlockTarget): Pick<BlockSettings, "enabled" | "explicit"> {
  for (const { blockStreaming } of channelSections(cfg, channel, accountId)) {
    if (typeof blockStreaming === "boolean") return { enabled: blockStreaming, explicit: blockStreaming };
  }
  return { enabled: cfg.agents?.defaults?.["blockStreamingDefault"] === "on" && plugin?.capabilities.blockStreaming !== false, explicit: false };
}

/** How answers are cut into blocks. No block is longer than a message of the channel. */
export function blockSettings(cfg: HostConfig, target: BlockTarget): BlockSettings {
  const { plugin, channel, accountId, agentId } = target;
  const own = channelSections(cfg, channel, accountId);
  const defaults = cfg.agents?.defaults ?? {};
  const limit = resolveTextChunkLimit(cfg, channel, accountId, { fallbackLimit: plugin?.outbound?.textChunkLimit });
  const chunk = defaults["blockStreamingChunk"];
  const maxChars = Math.min(numberIn(chunk, "maxChars", 1) ?? Math.max(MAX_CHARS, numberIn(chunk, "minChars", 1) ?? 0), limit);
  const preference = sectionOf(chunk)?.["breakPreference"];
  const sources = [
    ...own.map((section) => section["blockStreamingCoalesce"]),
    defaults["blockStreamingCoalesce"],
    plugin?.streaming?.blockStreamingCoalesceDefaults,
  ];
  const coalesce = (key: string, least: number): number | undefined =>
    sources.map((source) => numberIn(source, key, least)).find((value) => value !== undefined);
  const together = Math.min(coalesce("maxChars", 1) ?? limit, limit);
  return {
    ...blockMode(cfg, target),
    breakAt: defaults["blockStreamingBreak"] === "message_end" ? "message_end" : "text_end",
    chunk: {
      minChars: Math.min(numberIn(chunk, "minChars", 1) ?? MIN_CHARS, maxChars),
      maxChars,
      breakPreference: isPreference(preference) ? preference : "paragraph",
    },
    coalesce: {
      minChars: Math.min(coalesce("minChars", 1) ?? MIN_CHARS, together),
      maxChars: Math.max(together, maxChars),
      idleMs: coalesce("idleMs", 0) ?? IDLE_MS,
    },
    humanDelay: resolveHumanDelayConfig(cfg, agentId),
  };
}

/** A block of code that goes on behind a cut. */
export interface OpenFence {
  readonly line: string;
  readonly marker: string;
}

interface BlockCut {
  /** Where the block ends. */
  readonly end: number;
  /** Where the next one begins. */
  readonly next: number;
  readonly open: OpenFence | undefined;
}

/** Whether code can be cut: the lines that close and open it again have to leave space for it. Longer ones are treated as words. */
const canCut = ({ line, marker }: OpenFence, maxChars: number): boolean => (line.length + marker.length + 2) * 2 <= maxChars;

const BLANK = /\s*/y;

/** Behind white space; the indentation of a line is its own. */
function skipBlank(text: string, from: number): number {
  BLANK.lastIndex = from;
  const blank = BLANK.exec(text)?.[0] ?? "";
  const line = blank.lastIndexOf("\n");
  if (from + blank.length === text.length) return text.length;
  return from + (line < 0 ? blank.length : line + 1);
}

type CutKind = "paragraph" | "newline" | "sentence" | "blank";

const ORDER: Readonly<Record<BreakPreference, readonly [CutKind, ...CutKind[]]>> = {
  paragraph: ["paragraph", "newline", "sentence", "blank"],
  newline: ["newline", "sentence", "blank"],
  sentence: ["sentence", "newline", "blank"],
};

/** What text of a kind ends with. */
const CUTS: Readonly<Record<CutKind, RegExp>> = {
  paragraph: /\n[ \t]*\r?\n/g,
  newline: /\n/g,
  sentence: /[.!?]["'”’)\]]?(?=\s)|[。！？]/g,
  blank: /\s/g,
};

/** The last position of a kind from `least` to `most` that is not inside of code. */
function lastCut(kind: CutKind, text: string, least: number, most: number, safe: (index: number) => boolean): number | undefined {
  let found: number | undefined;
  for (const match of text.matchAll(CUTS[kind])) {
    const end = kind === "sentence" ? match.index + match[0].length : match.index;
    if (end > most) break;
    if (end >= least && end > 0 && safe(end)) found = end;
  }
  return found;
}

/** The part of a text that a cut may look at. Offsets of fences are those of the window. */
interface Window {
  readonly text: string;
  readonly from: number;
  /** Length of the line that opens code again, in front of the window. */
  readonly head: number;
  readonly fences: readonly Fence[];
}

const MARKED = /^ {0,3}(?:`{3,}|~{3,})/;

/** Inside of a line that looks as if it began code: whatever it is now, the half of it before a cut would be read as such. */
function splitsMarker(text: string, index: number): boolean {
  return index < text.length && text[index] !== "\n" && MARKED.test(text.slice(text.lastIndexOf("\n", index - 1) + 1, index));
}

const isOpen = (fence: Fence): boolean => fence.closing === fence.end;
const contains = (fence: Fence, index: number): boolean => fence.start < index && (isOpen(fence) || index < fence.end);

const safeIn =
  ({ text, fences }: Window): ((index: number) => boolean) =>
  (index) =>
    !fences.some((fence) => contains(fence, index)) && !splitsMarker(text, index);

/** Cuts inside of code, which is closed for it. */
function cutCode({ text, from, head }: Window, fence: Fence, maxChars: number): BlockCut {
  const body = Math.max(fence.body, head);
  const limit = Math.max(maxChars - fence.marker.length - 1, body + 1);
  const line = text.lastIndexOf("\n", limit);
  const end = line > body ? line : Math.max(wholeCharacter(text, limit), body + 1);
  const next = line > body ? line + 1 : end;
  if (!isOpen(fence) && next >= fence.closing) return { end: from + end - head, next: from + fence.end - head, open: undefined };
  return { end: from + end - head, next: from + next - head, open: { line: fence.line, marker: fence.marker } };
}

/** Cuts because no more fits. */
function cutForced(window: Window, text: string, { minChars, maxChars, breakPreference }: ChunkSettings): BlockCut {
  const { from, head, fences } = window;
  const safe = safeIn(window);
  for (const kind of ORDER[breakPreference]) {
    const cutAt = lastCut(kind, window.text, minChars, maxChars, safe);
    if (cutAt !== undefined && cutAt > head) return { end: from + cutAt - head, next: skipBlank(text, from + cutAt - head), open: undefined };
  }
  const fence = fences.find((one) => contains(one, maxChars));
  if (!fence) {
    const hard = from + Math.max(wholeCharacter(window.text, maxChars), head + 1) - head;
    return { end: hard, next: skipBlank(text, hard), open: undefined };
  }
  const before = fence.start > head && window.text.slice(head, fence.start).trim() !== "";
  if (before) return { end: from + fence.start - head, next: from + fence.start - head, open: undefined };
  return cutCode(window, fence, maxChars);
}

/** The next block of `text` from `start`, which may lie in `open` code. Undefined: it is not long enough yet. `ended`: nothing more will come. */
function nextCut(text: string, start: number, open: OpenFence | undefined, settings: ChunkSettings, ended: boolean): BlockCut | undefined {
  const left = text.length - start;
  if (left === 0 || (!ended && left < settings.minChars)) return undefined;
  const { maxChars } = settings;
  const head = open ? `${open.line}\n` : "";
  const shown = head + text.slice(start, start + maxChars + 1);
  const fences = findFences(shown).filter((fence) => canCut(fence, maxChars));
  const window: Window = { text: shown, from: start, head: head.length, fences };
  const last = fences.at(-1);
  const tail = last && isOpen(last) ? last.marker.length + 1 : 0;
  if (head.length + left + tail > maxChars && (ended || head.length + left > maxChars)) return cutForced(window, text, settings);
  if (ended) return { end: text.length, next: text.length, open: undefined };
  const cutAt = lastCut(ORDER[settings.breakPreference][0], shown, settings.minChars, maxChars, safeIn(window));
  if (cutAt === undefined || cutAt <= head.length) return undefined;
  return { end: start + cutAt - head.length, next: skipBlank(text, start + cutAt - head.length), open: undefined };
}

const CLOSING = /^ {0,3}(`{3,}|~{3,})[ \t]*(?:\r?\n|$)/;

/** A block as it is sent: code that it cuts is opened before it and closed behind it. */
export function renderBlock(raw: string, open: OpenFence | undefined, maxChars: number): string {
  const closing = open && CLOSING.exec(raw);
  const ends = open && closing?.[1]?.startsWith(open.marker.trimStart()) ? closing[0].length : 0;
  const rest = raw.slice(ends);
  const line = ends === 0 ? open?.line : undefined;
  const text = (line === undefined ? rest.slice(skipBlank(rest, 0)) : `${line}\n${rest}`).trimEnd();
  if (text === "" || text === line) return "";
  if (!/```|~~~/.test(text)) return text;
  const last = findFences(text).at(-1);
  return last && isOpen(last) && canCut(last, maxChars) ? `${text}\n${last.marker}` : text;
}

/** A part of an answer that can be sent. */
export interface Block {
  /** As it is sent. */
  readonly text: string;
  /** As it was written, with the white space behind it: all blocks together are the answer. */
  readonly raw: string;
}

export interface BlockWriter {
  push(words: string): void;
  /** The answer is complete: the rest of it as blocks, which are not given out by itself any more. */
  rest(): readonly Block[];
  /** Nothing more is given out; what was not stays out. */
  stop(): void;
}

interface BlockWriterDeps {
  readonly settings: Pick<BlockSettings, "breakAt" | "chunk" | "coalesce">;
  readonly clock: Clock;
  /** Code that the words begin in. */
  readonly open?: OpenFence | undefined;
  /** A block is ready. */
  emit(block: Block): void;
}

const MAX_BLANK = 4096;
/** Words after which looking for a cut is worth it. */
const MAY_CUT = /[\n.!?。！？]/;

export function createBlockWriter({ settings: { breakAt, chunk, coalesce }, clock, open: begun, emit }: BlockWriterDeps): BlockWriter {
  /** Not given out yet. */
  let buffer = "";
  /** Code that the buffer begins in. */
  let open = begun;
  /** How much of the buffer is cut and waits for more. */
  let ready: BlockCut | undefined;
  /** White space before the buffer. */
  let before: string[] = [];
  let timer: Disposable | undefined;
  let stopped = false;

  /** Takes what lies before `cut` out of the buffer. */
  function take(cut: BlockCut): Block {
    const block = { text: renderBlock(buffer.slice(0, cut.end), open, coalesce.maxChars), raw: before.join("") + buffer.slice(0, cut.next) };
    before = [];
    buffer = buffer.slice(cut.next);
    open = cut.open;
    ready = undefined;
    return block;
  }

  const give = (block: Block): void => {
    if (block.raw !== "") emit(block);
  };

  /** Where the next piece begins. White space is put aside, so that no amount of it is looked at twice. */
  function start(): number {
    if (ready && !stopped && buffer.length - ready.next > MAX_BLANK && skipBlank(buffer, ready.next) === buffer.length) give(take(ready));
    if (ready || open) return ready ? (ready.open ? ready.next : skipBlank(buffer, ready.next)) : 0;
    const blank = skipBlank(buffer, 0);
    if (blank > 0) before.push(buffer.slice(0, blank));
    buffer = buffer.slice(blank);
    return 0;
  }

  /** Cuts the next piece off; gives the block that it does not fit to any more. */
  function cut(ended: boolean): { readonly full?: Block } | undefined {
    const from = start();
    const next = nextCut(buffer, from, ready ? ready.open : open, chunk, ended);
    if (!next) return undefined;
    const lines = (open ? open.line.length + 1 : 0) + (next.open ? next.open.marker.length + 1 : 0);
    if (!ready || next.end + lines <= coalesce.maxChars) {
      ready = next;
      return {};
    }
    const { next: taken } = ready;
    const full = take(ready);
    ready = { ...next, end: next.end - taken, next: next.next - taken };
    return { full };
  }

  function arm(): void {
    timer?.[Symbol.dispose]();
    timer = undefined;
    if (!ready || ready.end < coalesce.minChars) return;
    if (ready.end >= coalesce.maxChars || coalesce.idleMs === 0) return give(take(ready));
    timer = clock.after(coalesce.idleMs, () => ready && give(take(ready)));
  }

  function stop(): void {
    stopped = true;
    timer?.[Symbol.dispose]();
    timer = undefined;
  }

  return {
    push(words) {
      buffer += words;
      const worth = MAY_CUT.test(words) || buffer.length - (ready?.next ?? 0) > chunk.maxChars;
      if (stopped || breakAt === "message_end" || !worth) return;
      let changed = false;
      for (let step = cut(false); step; step = cut(false)) {
        if (step.full) give(step.full);
        changed = true;
      }
      if (changed) arm();
    },
    rest() {
      stop();
      const blocks: Block[] = [];
      for (let step = cut(true); step; step = cut(true)) if (step.full) blocks.push(step.full);
      if (ready) blocks.push(take(ready));
      // White space at the very end.
      const left = before.join("") + buffer;
      if (left !== "") blocks.push({ text: "", raw: left });
      buffer = "";
      return blocks;
    },
    stop,
  };
}
