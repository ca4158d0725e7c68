/** The end of a turn, as its sender sees it. */
import { isSilentReply, type TurnEnd } from "../../agent/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import { findFences, sectionOf } from "../../channels/index.ts";
import type { ReplyPayload, HostConfig } from "../../protocol/index.ts";
import { takeThoughts, type SaidParts } from "./answer.ts";
import { createBlockWriter, renderBlock, type OpenFence, type BlockSettings } from "./blocks.ts";
import type { LiveTurn } from "./live-turn.ts";
import { reasoningPayload, failurePayload, answerFooter, withFooter } from "./notices.ts";
import { payloadOf, readReply, wordsOf, type ShapeFacts, stripAlive } from "./payload.ts";
import type { ReplyStreamDeps, EarlyReply, FinalReply, ReplyStream } from "./reply-stream.ts";

const FENCE_LINE = /^ {0,3}(?:`{3,}|~{3,})/;

/** The characters that count when two texts are compared: no white space, and no lines that open or close code. Calls `each` until it says no. */
function walk(text: string, from: number, each: (sign: string, index: number) => boolean): void {
  let at = from;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const whole = at === 0 || text[at - 1] === "\n";
    if (!(whole && FENCE_LINE.test(text.slice(at, Math.min(end, at + 10))))) {
      for (let index = at; index < end; index += 1) {
        const sign = text.charAt(index);
        if (!/\s/.test(sign) && !each(sign, index)) return;
      }
    }
    at = end + 1;
  }
}

/** Where `text` goes on behind `part`, which was cut from it at `from`. Undefined: it was not. */
function behind(text: string, from: number, part: string): number | undefined {
  const signs: string[] = [];
  walk(part, 0, (sign) => signs.push(sign) > 0);
  if (signs.length === 0) return from;
  let matched = 0;
  let end = from;
  walk(text, from, (sign, index) => {
    if (sign !== signs[matched]) return false;
    matched += 1;
    end = index + 1;
    return matched < signs.length;
  });
  return matched === signs.length ? end : undefined;
}

/** Goes through the texts of a turn in order and finds how much of each was sent by a previous process. */
export function createSpokenCursor(spoken: readonly string[], prefix: string | undefined): (text: string) => number {
  const parts = spoken.map((part) => (prefix && part.startsWith(`${prefix} `) ? part.slice(prefix.length + 1) : part));
  let next = 0;
  return (text) => {
    // Answers that were complete before the restart need not be among the texts.
    const first = parts.findIndex((part, index) => index >= next && (behind(text, 0, part) ?? 0) > 0);
    if (first < 0) return 0;
    next = first;
    let at = 0;
    for (const part of parts.slice(first)) {
      const end = behind(text, at, part);
      if (end === undefined) break;
      at = end;
      next += 1;
    }
    return at;
  };
}

interface FinalFacts extends ShapeFacts {
  /** Cut into blocks like those that are out; undefined: each text is one payload. */
  readonly blocks: BlockSettings | undefined;
  /** Of answers of which something was said, in order. */
  readonly said: readonly SaidParts[];
  /** How much of a text a previous process sent. Undefined: nothing. */
  readonly spokenOf: ((text: string) => number) | undefined;
  /** A process before this one sent part of this turn, and nothing marks the continuation yet. */
  readonly isContinued: boolean;
  /** Texts of this turn so far; those that follow are added. */
  readonly seen: Set<string>;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

const CONTINUED = "(continued after a restart)";

/** How much of `text` the parts are, from its beginning. Undefined: they are not of this text. */
function lengthOf(text: string, parts: readonly string[]): number | undefined {
  let at = 0;
  for (const part of parts) {
    // White space behind the last word is no part of a text.
    if (!text.startsWith(part, at) && !text.startsWith(part.trimEnd(), at)) return undefined;
    at = Math.min(at + part.length, text.length);
  }
  return at;
}

/** The code that a text is in at its end. */
function openAt(text: string): OpenFence | undefined {
  const last = findFences(text).at(-1);
  return last && last.closing === last.end && text !== "" ? { line: last.line, marker: last.marker } : undefined;
}

function piecesOf(rest: string, open: OpenFence | undefined, { blocks, clock }: FinalFacts): readonly string[] {
  if (!blocks) return [renderBlock(rest, open, Number.MAX_SAFE_INTEGER)];
  const writer = createBlockWriter({ settings: { ...blocks, breakAt: "message_end" }, clock, open, emit: () => {} });
  writer.push(rest);
  return writer.rest().map(({ text }) => text);
}

/** What is still to be sent of some texts. */
interface Finals {
  readonly payloads: readonly ReplyPayload[];
  /** How many of them, from the first, belong to texts that the model wrote before its last one. */
  readonly between: number;
}

/** The payloads of texts of a turn. Nothing that is out is in them. */
function finalPayloads({ texts }: Pick<TurnEnd, "texts">, facts: FinalFacts): Finals {
  const open = [...facts.said];
  const payloads: ReplyPayload[] = [];
  let between = 0;
  for (const text of texts) {
    const read = readReply(text, facts.localRoots);
    for (const path of read.directives.refused) facts.log.warn("a file of an answer is not in a folder that files may be sent from", { path });
    const own = open.findIndex(({ raw }) => lengthOf(read.text, raw) !== undefined);
    const [parts] = own < 0 ? [] : open.splice(0, own + 1).slice(own);
    const at = Math.max((parts && lengthOf(read.text, parts.raw)) ?? 0, facts.spokenOf?.(read.text) ?? 0);
    const key = JSON.stringify([read.text, read.directives.media]);
    const repeated = facts.seen.has(key) && at === 0 && (parts?.media ?? 0) === 0;
    facts.seen.add(key);
    if (repeated) continue;
    between = payloads.length;
    payloads.push(...payloadsLeft(read, at, parts?.media ?? 0, facts));
  }
  const first = payloads.findIndex((payload) => payload.text !== undefined);
  if (!facts.isContinued || first < 0) return { payloads, between };
  const marked = payloads.map((payload, index) => (index === first ? { ...payload, text: `${CONTINUED}\n\n${payload.text}` } : payload));
  return { payloads: marked, between };
}

/** The indentation of words that go on stays. */
function withoutAlive(rest: string): string {
  const { text, stripped } = stripAlive(rest);
  return stripped ? text : rest;
}

function payloadsLeft({ text, directives }: ReturnType<typeof readReply>, at: number, mediaSaid: number, facts: FinalFacts): ReplyPayload[] {
  const words = at === 0 || isSilentReply(text) ? wordsOf(text, facts.ackMaxChars) : withoutAlive(text.slice(at));
  const open = at === 0 ? undefined : openAt(text.slice(0, at));
  const pieces = piecesOf(open ? words.replace(/^\r?\n/, "") : words, open, facts).filter((piece) => piece !== "");
  const media = directives.media.slice(mediaSaid);
  if (pieces.length === 0) return [payloadOf("", directives, facts, media)].filter((payload) => payload !== undefined);
  // Files come with the first words; what is spoken is spoken once.
  return pieces.flatMap(
    (piece, index) => payloadOf(piece, index === 0 ? directives : { ...directives, spokenText: undefined }, facts, index === 0 ? media : []) ?? [],
  );
}

/** Pauses between blocks may prolong a turn by this much. */
const SETTLE_MS = 20_000;
const ACK_MAX_CHARS = 300;

/** The settings of heartbeats: the agent's over the general ones. */
function heartbeatSetting(cfg: HostConfig, agentId: string, key: string): unknown {
  const own = sectionOf(cfg.agents?.list?.find((agent) => agent.id.toLowerCase() === agentId.toLowerCase())?.["heartbeat"]);
  return own?.[key] ?? sectionOf(cfg.agents?.defaults?.["heartbeat"])?.[key];
}

/** The texts of a turn that ended well, without those that went out before calls. */
function textsLeft({ texts, silent }: TurnEnd, { sent, before }: LiveTurn["between"]): readonly string[] {
  // Of a silent answer only what names files is left, of each text its lines.
  if (silent) return texts.filter((text) => !sent.some((one) => one.includes(text)));
  return [...before, ...texts.slice(sent.length)];
}

/** What the payloads of a turn's texts are made with. */
function factsOf({ cfg, agentId, isHeartbeat, clock, log, localRoots, address }: ReplyStreamDeps, turn: LiveTurn): FinalFacts {
  const ackMaxChars = isHeartbeat ? heartbeatSetting(cfg, agentId, "ackMaxChars") : undefined;
  return {
    blocks: turn.opened()?.blocks ? turn.blockSettings() : undefined,
    said: turn.answers.map(({ said }) => said).filter(({ raw, media }) => raw.length > 0 || media > 0),
    spokenOf: turn.spokenOf,
    isContinued: turn.isContinued,
    seen: turn.seen,
    clock,
    log,
    localRoots,
    currentId: address.replyToId,
    ...(isHeartbeat ? { ackMaxChars: typeof ackMaxChars === "number" ? ackMaxChars : ACK_MAX_CHARS } : {}),
  };
}

/** Ends the preview: the message becomes the first of these, or goes away. */
async function endPreview(turn: LiveTurn, payloads: readonly ReplyPayload[]): Promise<Pick<FinalReply, "previewId" | "isPreviewLost">> {
  const before = turn.previewBefore;
  // One of a process before this is there, whether or not this one has shown anything.
  const preview = (before?.id === undefined ? turn.opened() : turn.surface())?.preview;
  const [first] = payloads;
  // Only a text can take the place of a text.
  const becomes = first?.text !== undefined && first.mediaUrls === undefined && first.channelData === undefined;
  const previewId = becomes ? await preview?.seal() : undefined;
  if (!becomes) await preview?.discard();
  // Whether a message with the same words may stand there already, and nobody knows its id.
  const isLost = preview ? preview.isLost() : before !== undefined && before.id === undefined;
  return { ...(isLost && payloads.length > 0 ? { isPreviewLost: true } : {}), ...(previewId === undefined ? {} : { previewId }) };
}

export function createEnding(deps: ReplyStreamDeps, turn: LiveTurn): Pick<ReplyStream, "between" | "finish" | "abandon"> {
  const { cfg, agentId, isHeartbeat, levels } = deps;

  function reasoning(): ReplyPayload | undefined {
    if (levels().reasoning !== "on") return undefined;
    if (isHeartbeat && heartbeatSetting(cfg, agentId, "includeReasoning") !== true) return undefined;
    return reasoningPayload(takeThoughts(turn.thoughts));
  }

  /** What a turn still sends at its end. */
  function finalOf(end: TurnEnd): Pick<FinalReply, "payloads" | "between"> {
    // The one who stopped it knows.
    if (end.status === "aborted" && end.abortedBy !== "timeout") return { payloads: [] };
    if (end.status === "aborted" || end.status === "failed") return { payloads: isHeartbeat ? [] : [turn.dress(failurePayload(end), end)] };
    const facts = factsOf(deps, turn);
    const { payloads: rest, between } = finalPayloads({ texts: textsLeft(end, turn.between) }, facts);
    const thought = rest.length > 0 ? reasoning() : undefined;
    const payloads = (thought ? [thought, ...rest] : rest).map((payload) => turn.dress(payload, end));
    if (payloads.length === 0 && facts.said.length === 0 && turn.between.sent.length === 0) return { payloads: [] };
    const level = levels().usage;
    const hasFooter = level !== "off" || end.stopReason === "length";
    const footer = hasFooter ? answerFooter(end, { level, sessionKey: deps.sessionKey, billed: deps.billed?.(end) }) : undefined;
    return { payloads: footer === undefined ? payloads : withFooter(payloads, footer), ...(between === 0 ? {} : { between: between + (thought ? 1 : 0) }) };
  }

  /** Whether people see something of an answer before the turn is over, or a line about the call that follows. */
  function isShownEarly(): boolean {
    if (!deps.plugin || isHeartbeat) return false;
    const { preview, blocks } = turn.surface();
    return preview !== undefined || blocks || deps.held === true || levels().verbose !== "off";
  }

  return {
    async between(text): Promise<EarlyReply | undefined> {
      const { sent, waiting, before } = turn.between;
      turn.current?.hold();
      turn.current = undefined;
      if (!isShownEarly()) {
        waiting.push(text);
        return undefined;
      }
      turn.isHeld = true;
      turn.isWaiting = true;
      const texts = [...before.splice(0), ...waiting, text];
      sent.push(...waiting.splice(0), text);
      await turn.speaker.drain();
      const { payloads: rest } = finalPayloads({ texts }, factsOf(deps, turn));
      const thought = rest.length > 0 ? reasoning() : undefined;
      const payloads = (thought ? [thought, ...rest] : rest).map((payload) => turn.dress(payload));
      const shown = await endPreview(turn, payloads);
      turn.answers.length = 0;
      turn.isContinued &&= payloads.length === 0;
      turn.previewBefore = undefined;
      turn.closeSurface();
      return {
        payloads,
        ...shown,
        committed() {
          turn.isHeld = false;
          turn.isWaiting = false;
        },
      };
    },
    async finish(end): Promise<FinalReply> {
      turn.current?.hold();
      turn.typing.stop();
      await (end.status === "aborted" ? turn.speaker.stop() : turn.speaker.settle(SETTLE_MS));
      const final = finalOf(end);
      return { ...final, ...(await endPreview(turn, final.payloads)) };
    },
    async abandon() {
      turn.current?.hold();
      turn.typing.stop();
      await Promise.all([turn.speaker.stop(), turn.opened()?.preview?.discard()]);
    },
  };
}
