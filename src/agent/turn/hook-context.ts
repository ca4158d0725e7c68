import { hookTrace, MESSAGE_SPAN, traceIdOf, type AgentHookContext } from "../../hooks/index.ts";
import type { Selection } from "../../models/index.ts";
import type { TurnInput } from "./input.ts";

/** The facts hooks of a turn are called with. They grow as the turn goes on. */
export interface AgentContext {
  agent(): AgentHookContext;
  readonly workspaceDir: string;
  readonly sessionId: string;
  chosen(selection: Selection): void;
}

const idOf = <K extends string>(name: K, id: string | undefined): { readonly [P in K]?: { readonly id: string } } =>
  id === undefined ? {} : ({ [name]: { id } } as { readonly [P in K]: { readonly id: string } });

/** A turn is a part of the trace of the message that it answers; one that answers no message has a trace of its own. */
export const turnTrace = ({ runId, traceId }: Pick<TurnInput, "runId" | "traceId">): ReturnType<typeof hookTrace> =>
  hookTrace(traceId ?? traceIdOf(runId), turnSpan(runId), traceId === undefined ? undefined : MESSAGE_SPAN);

export const turnSpan = (runId: string): string => `turn ${runId}`;

export function hookContext(input: TurnInput, place: { readonly sessionId: string; readonly workspaceDir: string }): AgentContext {
  const { agentId, sessionKey, runId, channel, senderId, chatId } = input;
  const { sessionId, workspaceDir } = place;
  let facts: AgentHookContext = {
    agentId,
    sessionKey,
    sessionId,
    runId,
    workspaceDir,
    messageProvider: channel,
    channel,
    trigger: "user",
    trace: turnTrace(input),
    ...(senderId === undefined ? {} : { senderId }),
    ...(chatId === undefined ? {} : { chatId }),
    ...(senderId === undefined && chatId === undefined ? {} : { channelContext: { ...idOf("sender", senderId), ...idOf("chat", chatId) } }),
  };
  return {
    sessionId,
    workspaceDir,
    agent: () => ({ ...facts }),
    chosen({ contextWindow: { tokens, source, reference } }) {
      facts = { ...facts, contextTokenBudget: tokens, contextWindowSource: source, contextWindowReferenceTokens: reference };
    },
  };
}
