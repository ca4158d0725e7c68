/** The end of a turn, as its sender sees it. */
import type { TurnEnd } from "../../agent/index.ts";
import { sectionOf } from "../../channels/index.ts";
import type { HostConfig, ReplyPayload } from "../../protocol/index.ts";
import { finalPayloads } from "./finals.ts";
import { reasoningPayload } from "./lines/notices.ts";
import { saidOf, type LiveTurn } from "./live-turn.ts";
import type { PreviewWindow } from "./preview/window.ts";
import { failurePayload } from "./shape/failure.ts";
import { answerFooter, withFooter } from "./shape/footer.ts";
import type { ReplyStreamDeps } from "./stream-deps.ts";
import type { FinalReply, ReplyStream } from "./stream.ts";

/** Pauses between blocks may prolong a turn by this much. */
const SETTLE_MS = 20_000;
const ACK_MAX_CHARS = 300;

/** The settings of heartbeats: the agent's over the general ones. */
function heartbeatSetting(cfg: HostConfig, agentId: string, key: string): unknown {
  const own = sectionOf(cfg.agents?.list?.find((agent) => agent.id.toLowerCase() === agentId.toLowerCase())?.["heartbeat"]);
  return own?.[key] ?? sectionOf(cfg.agents?.defaults?.["heartbeat"])?.[key];
}

/** Whether a message with the same words may stand there already, and nobody knows its id. */
function isLost({ preview }: ReplyStreamDeps, own: PreviewWindow | undefined): boolean {
  return (preview !== undefined && preview.id === undefined) || own?.isLost() === true;
}

export function createEnding(deps: ReplyStreamDeps, turn: LiveTurn): Pick<ReplyStream, "finish" | "abandon"> {
  const { cfg, agentId, isHeartbeat, levels } = deps;

  function reasoning(): ReplyPayload | undefined {
    if (levels().reasoning !== "on") return undefined;
    if (isHeartbeat && heartbeatSetting(cfg, agentId, "includeReasoning") !== true) return undefined;
    return reasoningPayload(turn.thoughts.take());
  }

  /** What a turn that ended well still says. */
  function answer(end: TurnEnd): Pick<FinalReply, "payloads" | "between"> {
    const ackMaxChars = heartbeatSetting(cfg, agentId, "ackMaxChars");
    const said = saidOf(turn);
    const { payloads: rest, between } = finalPayloads(end, {
      blocks: turn.opened()?.blocks ? turn.settings : undefined,
      said,
      spoken: deps.spoken,
      prefix: turn.prefix(),
      clock: deps.clock,
      localRoots: deps.localRoots,
      currentId: deps.address.replyToId,
      ...(isHeartbeat ? { ackMaxChars: typeof ackMaxChars === "number" ? ackMaxChars : ACK_MAX_CHARS } : {}),
    });
    const thought = rest.length > 0 ? reasoning() : undefined;
    const payloads = (thought ? [thought, ...rest] : rest).map((payload) => turn.dress(payload, end));
    if (payloads.length === 0 && said.length === 0) return { payloads: [] };
    const footer = answerFooter(end, { level: levels().usage, sessionKey: deps.sessionKey, billed: deps.billed?.(end) });
    return { payloads: withFooter(payloads, footer), ...(between === 0 ? {} : { between: between + (thought ? 1 : 0) }) };
  }

  function finalOf(end: TurnEnd): Pick<FinalReply, "payloads" | "between"> {
    // Whoever stopped it knows.
    if (end.status === "aborted") return { payloads: [] };
    if (end.status === "failed") return { payloads: isHeartbeat ? [] : [turn.dress(failurePayload(end), end)] };
    return answer(end);
  }

  return {
    async finish(end): Promise<FinalReply> {
      turn.current?.hold();
      turn.typing.stop();
      await (end.status === "aborted" ? turn.speaker.stop() : turn.speaker.settle(SETTLE_MS));
      const final = finalOf(end);
      const { payloads } = final;
      // One of a process before this is there, whether or not this one has shown anything.
      const preview = (deps.preview?.id === undefined ? turn.opened() : turn.surface())?.preview;
      const [first] = payloads;
      // Only a text can take the place of a text.
      const becomes = first?.text !== undefined && first.mediaUrls === undefined && first.channelData === undefined;
      if (!preview || !becomes) {
        await preview?.discard();
        return { ...final, ...(isLost(deps, preview) && payloads.length > 0 ? { isPreviewLost: true } : {}) };
      }
      const previewId = await preview.seal();
      return { ...final, ...(isLost(deps, preview) ? { isPreviewLost: true } : {}), ...(previewId === undefined ? {} : { previewId }) };
    },
    async abandon() {
      turn.current?.hold();
      turn.typing.stop();
      await Promise.all([turn.speaker.stop(), turn.opened()?.preview?.discard()]);
    },
  };
}
