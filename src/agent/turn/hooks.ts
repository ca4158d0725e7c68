import { messageOf } from "../../base/errors.ts";
import { hookTrace, MESSAGE_SPAN, traceIdOf, type AgentHookContext } from "../../hooks/index.ts";
import type { Selection } from "../../models/index.ts";
import type { AssistantMessage, ModelMessage } from "../../protocol/index.ts";
import { sumUsage } from "../../sessions/index.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnEnd, TurnInput } from "./input.ts";
import type { PreparedTurn } from "./prepare.ts";

/** A turn is a part of the trace of the message that it answers; one that answers no message has a trace of its own. */
export function turnTrace({ runId, traceId }: Pick<TurnInput, "runId" | "traceId">): ReturnType<typeof hookTrace> {
  return hookTrace(traceId ?? traceIdOf(runId), turnSpan(runId), traceId === undefined ? undefined : MESSAGE_SPAN);
}

export const turnSpan = (runId: string): string => `turn ${runId}`;

/** The facts that hooks of a turn are called with, before its model is known. */
export function hookContext(input: TurnInput, sessionId: string, workspaceDir: string): AgentHookContext {
  const { agentId, sessionKey, runId, channel, senderId, chatId, jobId, trigger = "user" } = input;
  const sender = senderId === undefined ? {} : { sender: { id: senderId } };
  const chat = chatId === undefined ? {} : { chat: { id: chatId } };
  return {
    agentId,
    sessionKey,
    sessionId,
    runId,
    workspaceDir,
    messageProvider: channel,
    channel,
    trigger,
    trace: turnTrace(input),
    ...(jobId === undefined ? {} : { jobId }),
    ...(senderId === undefined ? {} : { senderId }),
    ...(chatId === undefined ? {} : { chatId }),
    ...(senderId === undefined && chatId === undefined ? {} : { channelContext: { ...sender, ...chat } }),
  };
}

/** The same with the window of the model that was chosen. */
export function withWindow(context: AgentHookContext, { contextWindow: { tokens, source, reference } }: Selection): AgentHookContext {
  return { ...context, contextTokenBudget: tokens, contextWindowSource: source, contextWindowReferenceTokens: reference };
}

/** What plugins decided before the model is asked. */
export type Gate =
  | { readonly kind: "blocked"; readonly text: string; readonly pluginId: string | undefined }
  /** Answered, or silent on purpose, without the model. */
  | { readonly kind: "replied"; readonly text: string };

const BLOCKED_TEXT = "This message was blocked and not stored.";

/** `before_agent_run`, then `before_agent_reply`. Undefined when the model is to be asked. */
export async function askGates({ hooks }: TurnDeps, input: TurnInput, { context, prompt, seen, systemPrompt }: PreparedTurn): Promise<Gate | undefined> {
  if (!prompt) return undefined;
  const about = (): { prompt: string; messages: unknown[] } => ({ prompt: promptText(prompt), messages: [...seen.messages, prompt] });
  if (hooks.has("before_agent_run")) {
    const result = await hooks.run("before_agent_run", { ...about(), systemPrompt }, { ...context });
    if (result?.outcome === "block") return { kind: "blocked", text: result.message?.trim() || BLOCKED_TEXT, pluginId: result.decidedBy };
  }
  if (hooks.has("before_agent_reply")) {
    const result = await hooks.run("before_agent_reply", { ...about(), cleanedBody: input.message }, { ...context });
    if (result?.handled) return { kind: "replied", text: result.reply?.text?.trim() ?? "" };
  }
  return undefined;
}

function promptText({ content }: Extract<ModelMessage, { role: "user" }>): string {
  return typeof content === "string" ? content : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

/** `session_end` and `session_start`, when a session began with this turn. Only a plugin that asks for the end costs a look into the store. */
export async function reportSession({ hooks, store, log }: TurnDeps, input: TurnInput, { target }: PreparedTurn): Promise<void> {
  if (!target.began) return;
  const { reason, former } = target.began;
  const { agentId, sessionKey } = input;
  const { sessionId } = target;
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

/** `llm_input`: once in a turn, with what the model sees first. */
export function reportInput({ hooks }: TurnDeps, { runId }: TurnInput, turn: PreparedTurn, sent: readonly ModelMessage[]): void {
  if (!hooks.has("llm_input")) return;
  const { chosen, context, target, prompt, systemPrompt, seen } = turn;
  const { provider, id } = chosen.selection.entry;
  const content = prompt && typeof prompt.content !== "string" ? prompt.content : [];
  void hooks.run(
    "llm_input",
    {
      runId,
      sessionId: target.sessionId,
      provider,
      model: id,
      systemPrompt,
      prompt: content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n"),
      historyMessages: [...(prompt ? seen.messages : sent)],
      imagesCount: content.filter(({ type }) => type === "image").length,
    },
    { ...context },
  );
}

interface Ended {
  readonly end: TurnEnd;
  readonly answers: readonly AssistantMessage[];
  /** What the answers say. */
  readonly texts: readonly string[];
  readonly messages: readonly ModelMessage[];
}

/** `llm_output` and `agent_end`, once the end is on disk. Nothing waits for them. */
export function reportEnd({ hooks }: TurnDeps, { runId }: TurnInput, { context, target, chosen }: PreparedTurn, ended: Ended): void {
  const { end, answers, messages, texts } = ended;
  const last = answers.at(-1);
  if (last && hooks.has("llm_output")) {
    const { contextTokenBudget = chosen.selection.contextWindow.tokens, contextWindowSource, contextWindowReferenceTokens } = context;
    void hooks.run(
      "llm_output",
      {
        runId,
        sessionId: target.sessionId,
        provider: last.provider,
        model: last.model,
        assistantTexts: texts.filter((text) => text !== ""),
        lastAssistant: last,
        usage: { ...sumUsage(end.usage) },
        contextTokenBudget,
        ...(contextWindowSource === undefined ? {} : { contextWindowSource }),
        ...(contextWindowReferenceTokens === undefined ? {} : { contextWindowReferenceTokens }),
      },
      { ...context },
    );
  }
  if (!hooks.has("agent_end")) return;
  const success = end.status === "ok";
  const error = success ? {} : { error: end.error ?? end.status };
  void hooks.run("agent_end", { messages: [...messages], success, ...error, durationMs: end.endedAt - end.startedAt, runId }, { ...context });
}
