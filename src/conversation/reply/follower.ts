import type { TurnEvent } from "../../agent/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import { createAnswer, type AnswerDeps, type LiveAnswer } from "./answer.ts";
import { compactionNotice, newSessionNotice, reasoningPayload } from "./lines/notices.ts";
import { toolLine, toolOutput } from "./lines/tool-lines.ts";
import type { LiveTurn } from "./live-turn.ts";
import type { ReplyStreamDeps } from "./stream-deps.ts";

/** Takes what happens in a turn and shows what a session lets people see of it. */
export function createFollower(deps: ReplyStreamDeps, turn: LiveTurn): (event: TurnEvent) => void {
  const { plugin, levels, isHeartbeat, address } = deps;
  const redact = deps.redact ?? ((text: string) => text);
  const { typing, thoughts, speaker, dress } = turn;

  const tell = (payload: ReplyPayload): void => {
    if (plugin && !isHeartbeat) speaker.say({ payload: dress(payload), kind: "tool" });
  };
  const verbose = (): boolean => levels().verbose !== "off";

  /** In front of the words that they led to. */
  function tellThoughts(): void {
    const { blocks, preview } = turn.surface();
    if (!(blocks || preview) || turn.isHeld || levels().reasoning !== "on") return;
    const payload = reasoningPayload(thoughts.take());
    if (payload) tell(payload);
  }

  function begin(): LiveAnswer {
    const facts: AnswerDeps = {
      blocks: turn.surface().blocks && !turn.isHeld ? turn.settings : undefined,
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
    if (turn.current && !turn.current.empty() && text.length === delta.length) {
      turn.isHeld = true;
      turn.current.hold();
      turn.current = undefined;
      // What was shown is void, and nothing has taken its place yet.
      if (delta === "") turn.surface().preview?.restart();
    }
    if (delta === "") return;
    const answer = turn.current ?? begin();
    thoughts.done();
    const words = answer.push(delta, tellThoughts);
    if (words === "") return typing.alive();
    typing.speaking();
    turn.surface().preview?.words(words);
  }

  function think(text: string, delta: string): void {
    thoughts.push(text, delta);
    if (levels().reasoning !== "stream") return typing.alive();
    typing.thinking();
    turn.surface().preview?.thoughts(thoughts.current());
  }

  function tool(data: Extract<TurnEvent, { stream: "tool" }>["data"]): void {
    typing.alive();
    if (data.phase === "start") {
      thoughts.done();
      if (!turn.isHeld) turn.current?.close();
      turn.current = undefined;
      if (verbose()) tell({ text: toolLine(data.name, data.args, redact) });
    } else if (data.phase === "result" && levels().verbose === "full") {
      const text = toolOutput(data.name, data.result, data.isError, redact);
      if (text !== undefined) tell({ text });
    }
  }

  return (event) => {
    if (event.stream === "assistant") return speak(event.data.text, event.data.delta);
    if (event.stream === "thinking") return think(event.data.text, event.data.delta);
    if (event.stream === "tool") return tool(event.data);
    if (event.stream === "compaction") {
      // What was left out of a conversation is told always, that it was summed up only to those who want to know.
      if (event.data.notice !== undefined) tell({ text: `⚠️ ${event.data.notice}`, isCompactionNotice: true });
      else if (event.data.phase === "end" && verbose()) tell(compactionNotice(event.data.willRetry ?? true));
      return typing.alive();
    }
    typing.started();
    if (deps.newSessionId !== undefined && verbose()) tell(newSessionNotice(deps.newSessionId));
  };
}
