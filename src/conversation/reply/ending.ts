/** The end of a turn, as its sender sees it. */
import type { TurnEnd } from "../../agent/index.ts";
import { sectionOf } from "../../channels/index.ts";
import type { HostConfig, ReplyPayload } from "../../protocol/index.ts";
import { finalPayloads, type FinalFacts } from "./finals.ts";
import { reasoningPayload } from "./lines/notices.ts";
import { saidOf, type LiveTurn } from "./live-turn.ts";
import { failurePayload } from "./shape/failure.ts";
import { answerFooter, withFooter } from "./shape/footer.ts";
import type { ReplyStreamDeps } from "./stream-deps.ts";
import type { EarlyReply, FinalReply, ReplyStream } from "./stream.ts";

/** Pauses between blocks may prolong a turn by this much. */
const SETTLE_MS = 20_000;
const ACK_MAX_CHARS = 300;

/** The settings of heartbeats: the agent's over the general ones. */
function heartbeatSetting(cfg: HostConfig, agentId: string, key: string): unknown {
  const own = sectionOf(cfg.agents?.list?.find((agent) => agent.id.toLowerCase() === agentId.toLowerCase())?.["heartbeat"]);
  return own?.[key] ?? sectionOf(cfg.agents?.defaults?.["heartbeat"])?.[key];
}

/** The texts of a turn that ended well, without those that went out before calls. */
function restOf({ texts, silent }: TurnEnd, { sent, before }: LiveTurn["between"]): readonly string[] {
  // Of a silent answer only what names files is left, of each text its lines.
  if (silent) return texts.filter((text) => !sent.some((one) => one.includes(text)));
  return [...before, ...texts.slice(sent.length)];
}

/** Only a text can take the place of a text. */
const canBecome = (first: ReplyPayload | undefined): boolean => first?.text !== undefined && first.mediaUrls === undefined && first.channelData === undefined;

/** What the payloads of a turn's texts are made with. */
function factsOf({ cfg, agentId, isHeartbeat, clock, localRoots, address }: ReplyStreamDeps, turn: LiveTurn): FinalFacts {
  const ackMaxChars = heartbeatSetting(cfg, agentId, "ackMaxChars");
  return {
    blocks: turn.opened()?.blocks ? turn.settings : undefined,
    said: saidOf(turn),
    spokenOf: turn.spokenOf,
    isContinued: turn.isContinued,
    seen: turn.seen,
    clock,
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
  const becomes = canBecome(payloads[0]);
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
    return reasoningPayload(turn.thoughts.take());
  }

  /** What a turn that ended well still sends. */
  function answer(end: TurnEnd): Pick<FinalReply, "payloads" | "between"> {
    const facts = factsOf(deps, turn);
    const { payloads: rest, between } = finalPayloads({ texts: restOf(end, turn.between) }, facts);
    const thought = rest.length > 0 ? reasoning() : undefined;
    const payloads = (thought ? [thought, ...rest] : rest).map((payload) => turn.dress(payload, end));
    if (payloads.length === 0 && facts.said.length === 0 && turn.between.sent.length === 0) return { payloads: [] };
    const footer = answerFooter(end, { level: levels().usage, sessionKey: deps.sessionKey, billed: deps.billed?.(end) });
    return { payloads: withFooter(payloads, footer), ...(between === 0 ? {} : { between: between + (thought ? 1 : 0) }) };
  }

  function finalOf(end: TurnEnd): Pick<FinalReply, "payloads" | "between"> {
    // Whoever stopped it knows.
    if (end.status === "aborted" && end.abortedBy !== "timeout") return { payloads: [] };
    if (end.status === "aborted" || end.status === "failed") return { payloads: isHeartbeat ? [] : [turn.dress(failurePayload(end), end)] };
    return answer(end);
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
