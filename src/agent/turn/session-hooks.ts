import { messageOf } from "../../base/errors.ts";
import type { AssistantMessage, ModelMessage } from "../../protocol/index.ts";
import { sumUsage } from "../../sessions/index.ts";
import type { TurnDeps } from "./deps.ts";
import { turnTrace } from "./hook-context.ts";
import type { TurnEnd, TurnInput } from "./input.ts";
import type { PreparedTurn } from "./prepare.ts";
import { textOf } from "./reply.ts";

/** Tells plugins that a session began with this turn, and which one ended with it. Only who asks for the end costs a look into the store. */
export async function tellSession({ hooks, store, log }: TurnDeps, input: TurnInput, { place }: PreparedTurn): Promise<void> {
  if (!place.began) return;
  const { reason, former } = place.began;
  const { agentId, sessionKey } = input;
  const { sessionId } = place;
  const facts = { agentId, sessionKey, trace: turnTrace(input) };
  if (former && hooks.has("session_end")) {
    const messageCount = await store.read("transcripts.messages", { agentId, sessionId: former.sessionId }).catch((error: unknown) => {
      log.warn(`the messages of a session that ended could not be counted: ${messageOf(error)}`, { sessionKey });
      return 0;
    });
    const event = { sessionId: former.sessionId, sessionKey, messageCount, nextSessionId: sessionId, ...(reason === "new" ? {} : { reason }) };
    void hooks.run("session_end", event, { ...facts, sessionId: former.sessionId });
  }
  if (hooks.has("session_start")) {
    const event = { sessionId, sessionKey, reason, ...(former ? { resumedFrom: former.sessionId } : {}) };
    void hooks.run("session_start", event, { ...facts, sessionId });
  }
}

/** `llm_output` and `agent_end`, once the end is on disk. Nobody waits for them. */
export function tellEnd(
  { hooks }: TurnDeps,
  { runId }: TurnInput,
  { context, place, chosen }: PreparedTurn,
  ended: { readonly end: TurnEnd; readonly answers: readonly AssistantMessage[]; readonly messages: readonly ModelMessage[] },
): void {
  const { end, answers, messages } = ended;
  const facts = context.agent();
  if (answers.length > 0 && hooks.has("llm_output")) {
    const { provider, model } = answers.at(-1)!;
    const { contextTokenBudget, contextWindowSource, contextWindowReferenceTokens } = facts;
    void hooks.run(
      "llm_output",
      {
        runId,
        sessionId: place.sessionId,
        provider,
        model,
        assistantTexts: answers.map(textOf).filter((text) => text !== ""),
        lastAssistant: answers.at(-1),
        usage: { ...sumUsage(end.usage) },
        contextTokenBudget: contextTokenBudget ?? chosen.selection.contextWindow.tokens,
        ...(contextWindowSource === undefined ? {} : { contextWindowSource }),
        ...(contextWindowReferenceTokens === undefined ? {} : { contextWindowReferenceTokens }),
      },
      facts,
    );
  }
  if (!hooks.has("agent_end")) return;
  const success = end.status === "ok";
  const error = success ? {} : { error: end.error ?? end.status };
  void hooks.run("agent_end", { messages: [...messages], success, ...error, durationMs: end.endedAt - end.startedAt, runId }, facts);
}
