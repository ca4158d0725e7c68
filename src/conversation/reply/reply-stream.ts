import type { TurnEnd, TurnEvent } from "../../agent/index.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import type { ChannelPlugin, HostConfig, ReplyPayload, ResponsePrefixContext } from "../../protocol/index.ts";
import type { ReplyAddress } from "../address.ts";
import { addThought, createAnswer, finishThought, takeThoughts, type AnswerDeps, type LiveAnswer } from "./answer.ts";
import { createEnding } from "./ending.ts";
import { type LiveTurn, createLiveTurn } from "./live-turn.ts";
import { type UsageLevel, compactionNotice, newSessionNotice, reasoningPayload, toolLine, toolOutput } from "./notices.ts";

/** What a session shows. */
export interface ReplyLevels {
  readonly verbose: "off" | "on" | "full";
  readonly reasoning: "off" | "on" | "stream";
  readonly usage: UsageLevel;
}

export interface ReplyStreamDeps {
  /** Undefined where nothing is shown while the turn runs, such as in WebChat: then only `finish` gives something. */
  readonly plugin: ChannelPlugin | undefined;
  readonly address: ReplyAddress;
  readonly cfg: HostConfig;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Whether the answer comes in blocks, whatever the configuration says. */
  readonly blocks?: boolean;
  /** Read whenever something happens: a change counts from then on. */
  readonly levels: () => ReplyLevels;
  readonly wasMentioned: boolean;
  readonly isHeartbeat: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Commits a payload as an outbox row and has it sent. What it rejects was not said, and comes back from `finish`. */
  say(payload: ReplyPayload, kind: "block" | "tool"): Promise<void>;
  /** Texts of payloads that a process before this one said as blocks of this turn, in order. */
  readonly spoken: readonly string[];
  /** Texts that the model wrote before calls in a process before this one, and that waited for the end of the turn. */
  readonly unsent?: readonly string[];
  /**
   * Keeps the message that shows the answer while it is written, for the process that may have to take the turn up: called without an id before the
   * message is posted, and with it afterwards.
   */
  readonly keepPreview?: (id: string | undefined) => Promise<void>;
  /** What a process before this one has kept so. Without an id nobody knows whether the message is there. */
  readonly preview?: { readonly id: string | undefined } | undefined;
  /** Plugins may still change or cancel what is said: nothing is shown before they have decided, so there is no preview. */
  readonly held?: boolean;
  /** For the variables of the prefix, as far as they are known before the turn. */
  readonly prefixFacts: ResponsePrefixContext;
  /** Folders that files may be sent from; relative paths begin at the first. */
  readonly localRoots: readonly string[];
  /** Set when the turn begins a session that is announced where verbose is on. */
  readonly newSessionId?: string;
  /** Whether the call was paid with a key, so that its cost is shown. Default no. */
  readonly billed?: (end: TurnEnd) => boolean;
  /** Takes secrets out of what tools show. */
  readonly redact?: (text: string) => string;
}

/** What is said at the end of a turn. */
export interface FinalReply {
  readonly payloads: readonly ReplyPayload[];
  /** How many of them, from the first, are texts that the model wrote before a call. */
  readonly between?: number;
  /** The message that showed the answer while it was written and now becomes it. */
  readonly previewId?: string;
  /** A message that showed the answer may be there, and nobody knows its id. */
  readonly isPreviewLost?: true;
}

/** A text that the model wrote before a call, as it is sent while the turn goes on. */
export interface EarlyReply extends Pick<FinalReply, "payloads" | "previewId" | "isPreviewLost"> {
  /** Its rows are on disk. Until this is called, nothing else of the answer goes out. */
  committed(): void;
}

/** Follows one turn and shows what a channel lets people see of it meanwhile: typing, previews, blocks, tools, reasoning. */
export interface ReplyStream {
  event(event: TurnEvent): void;
  /**
   * The text of an answer after which the turn goes on. What is left of it to be sent now; undefined where texts wait for the end of the turn, because
   * people see nothing of it before.
   */
  between(text: string): Promise<EarlyReply | undefined>;
  /** What is still to be said once the turn is over. Blocks that are out are waited for, and not said again. */
  finish(end: TurnEnd): Promise<FinalReply>;
  /** The turn will not end here: nothing is shown any more. */
  abandon(): Promise<void>;
}

/** Takes what happens in a turn and shows what a session lets people see of it. */
function createFollower(deps: ReplyStreamDeps, turn: LiveTurn): (event: TurnEvent) => void {
  const { plugin, levels, isHeartbeat, address } = deps;
  const redact = deps.redact ?? ((text: string) => text);
  const { typing, thoughts, speaker, dress } = turn;

  const notify = (payload: ReplyPayload): void => {
    if (plugin && !isHeartbeat) speaker.say({ payload: dress(payload), kind: "tool" });
  };
  const verbose = (): boolean => levels().verbose !== "off";

  /** In front of the text that they led to. */
  function showThoughts(): void {
    const { blocks, preview } = turn.surface();
    if (!(blocks || preview) || turn.isHeld) return;
    const payload = reasoningPayload(takeThoughts(thoughts));
    if (payload) notify(payload);
  }

  function begin(): LiveAnswer {
    const facts: AnswerDeps = {
      blocks: turn.surface().blocks && !turn.isHeld ? turn.blockSettings() : undefined,
      speaker,
      clock: deps.clock,
      localRoots: deps.localRoots,
      currentId: address.replyToId,
      dress,
    };
    turn.surface().preview?.restart();
    turn.current = createAnswer(facts);
    turn.answers.push(turn.current);
    return turn.current;
  }

  function speak(text: string, delta: string): void {
    if (turn.current && !turn.current.isEmpty && text.length === delta.length) {
      turn.isHeld = true;
      turn.current.hold();
      turn.current = undefined;
      // What was shown is void, and nothing has taken its place yet.
      if (delta === "") turn.surface().preview?.restart();
    }
    if (delta === "") return;
    const answer = turn.current ?? begin();
    if (thoughts.now !== "") finishThought(thoughts);
    const added = answer.push(delta);
    if (added === "") return typing.alive();
    if (levels().reasoning === "on") showThoughts();
    answer.blocks?.push(added);
    typing.speaking();
    turn.surface().preview?.words(added);
  }

  function think(text: string, delta: string): void {
    addThought(thoughts, text, delta);
    if (levels().reasoning !== "stream") return typing.alive();
    typing.thinking();
    turn.surface().preview?.thoughts(thoughts.now);
  }

  function tool(data: Extract<TurnEvent, { stream: "tool" }>["data"]): void {
    typing.alive();
    if (data.phase === "start") {
      finishThought(thoughts);
      if (!turn.isHeld) turn.current?.close();
      turn.current = undefined;
      if (verbose()) notify({ text: toolLine(data.name, data.args, redact) });
    } else if (data.phase === "result" && levels().verbose === "full") {
      const text = toolOutput(data.name, data.result, data.isError, redact);
      if (text !== undefined) notify({ text });
    }
  }

  return (event) => {
    if (event.stream === "assistant") return speak(event.data.text, event.data.delta);
    if (event.stream === "thinking") return think(event.data.text, event.data.delta);
    if (event.stream === "tool") return tool(event.data);
    if (event.stream === "compaction") {
      // What was left out of a conversation is always shown, that it was summed up only where verbose is on.
      if (event.data.notice !== undefined) notify({ text: `⚠️ ${event.data.notice}`, isCompactionNotice: true });
      else if (event.data.phase === "end" && verbose()) notify(compactionNotice(event.data.willRetry ?? true));
      return typing.alive();
    }
    typing.started();
    if (deps.newSessionId !== undefined && verbose()) notify(newSessionNotice(deps.newSessionId));
  };
}

/** Follows one turn: what people see of it while it runs, and what is left to be said at its end. */
export function openReplyStream(deps: ReplyStreamDeps): ReplyStream {
  const turn = createLiveTurn(deps);
  const follow = createFollower(deps, turn);
  const ending = createEnding(deps, turn);
  let over = false;
  return {
    event(event) {
      if (over) return;
      try {
        follow(event);
      } catch (error) {
        deps.log.warn(`a part of a turn could not be shown: ${messageOf(error)}`);
      }
    },
    between: ending.between,
    finish(end) {
      over = true;
      return ending.finish(end);
    },
    async abandon() {
      if (over) return;
      over = true;
      await ending.abandon();
    },
  };
}
