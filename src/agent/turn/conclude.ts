import type { AssistantMessage, ModelMessage } from "../../protocol/index.ts";
import { messageEntry, promptErrorEntry, ZERO_USAGE } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import type { LoopEnd, LoopResult } from "../loop/ports.ts";
import { abortedDraft, finishTurn, type LastLines } from "./finish.ts";
import type { TurnEnd } from "./input.ts";
import { replyOf } from "./reply.ts";
import type { Stage } from "./stage.ts";
import { tellEnd } from "./session-hooks.ts";
import { usageRow } from "./usage.ts";

/** How the loop ended becomes the end of the turn, on disk. */
export async function conclude(stage: Stage, result: LoopResult, before: readonly ModelMessage[]): Promise<TurnEnd> {
  const { deps, input, turn } = stage;
  const { end: made, lines } = endOf(stage, result, factsOf(stage, result));
  const end = await finishTurn(stage, made, lines);
  tellEnd(deps, input, turn, { end, answers: result.answers, messages: [...before, ...result.added] });
  return end;
}

interface Ended {
  readonly end: TurnEnd;
  readonly lines: LastLines;
}

type Facts = Pick<TurnEnd, "sessionId" | "startedAt" | "endedAt" | "usage" | "provider" | "model" | "window" | "profileId">;

function factsOf({ deps, turn, asking, startedAt }: Stage, { answers, usage }: LoopResult): Facts {
  const { provider, id } = turn.chosen.selection.entry;
  const last = answers.at(-1);
  return {
    sessionId: turn.place.sessionId,
    startedAt,
    endedAt: deps.clock.now(),
    usage,
    provider: last?.provider ?? provider,
    model: last?.model ?? id,
    window: turn.chosen.selection.contextWindow.tokens,
    ...(asking.profileId === undefined ? {} : { profileId: asking.profileId }),
  };
}

function endOf(stage: Stage, result: LoopResult, facts: Facts): Ended {
  const { end } = result;
  switch (end.kind) {
    case "answered":
      return answered(stage, result, end.answer, facts);
    case "aborted":
      return aborted(stage, result.partial, end.text, facts);
    case "failed":
      return failed(stage, end, facts);
    default:
      return {
        end: { ...facts, status: "failed", text: "", texts: [], error: end.text, failure: { kind: "turn_limit" }, stopReason: "error" },
        lines: () => [(at) => messageEntry(at, { ...unsaid(stage), stopReason: "error", errorMessage: end.text })],
      };
  }
}

function answered({ tools }: Stage, { answers }: LoopResult, answer: AssistantMessage, facts: Facts): Ended {
  const { text, texts, silent } = replyOf(answers, tools.failed, tools.delivered);
  const calls = tools.delegated.length === 0 ? {} : { calls: tools.delegated };
  const stopReason = tools.delegated.length === 0 ? answer.stopReason : "toolUse";
  return { end: { ...facts, status: "ok", text, texts, stopReason, ...calls, ...(silent ? { silent } : {}) }, lines: () => [] };
}

function aborted(stage: Stage, partial: string, said: string, facts: Facts): Ended {
  const text = partial === "" ? said : partial;
  const origin = stage.ports.origin();
  return {
    end: { ...facts, status: "aborted", text, texts: text === "" ? [] : [text], error: `aborted (${origin})`, abortedBy: origin, stopReason: "aborted" },
    lines: (shown) => [abortedDraft(stage.input, unsaid(stage), { ...shown, text: partial, origin })],
  };
}

function failed({ deps, input, record, asking }: Stage, { failure }: Extract<LoopEnd, { kind: "failed" }>, facts: Facts): Ended {
  const { text, message, kind, status, trouble, retryAfterMs } = failure;
  const { attempts, ms } = asking.last;
  const tried: Write[] = attempts.length === 0 ? [] : [["journal.append", { turnId: input.runId, kind: "note", data: { attempts } }]];
  record.later([], [["usage.add", usageRow(input, message, ms, deps.clock.now())], ...tried]);
  const { provider, model, api } = message;
  const error = { runId: input.runId, sessionId: facts.sessionId, provider, model, api, error: text };
  return {
    end: {
      ...facts,
      status: "failed",
      text: "",
      texts: [],
      error: text,
      failure: {
        kind,
        ...(status === undefined ? {} : { status }),
        ...(trouble === undefined ? {} : { trouble }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
      stopReason: "error",
    },
    lines: (shown) => [(at) => messageEntry(at, { ...message, ...shown }), (at) => promptErrorEntry(at, error)],
  };
}

/** An answer of the turn's model with nothing in it. */
function unsaid({ deps, turn }: Stage): AssistantMessage {
  const { provider, id, api } = turn.chosen.selection.entry;
  return { role: "assistant", content: [], provider, model: id, api, usage: ZERO_USAGE, stopReason: "stop", timestamp: deps.clock.now() };
}
