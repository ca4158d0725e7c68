import { finalizeInboundContext } from "../../channels/index.ts";
import { gatewayMessage } from "../../sessions/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import type { Write } from "../../store/index.ts";
import type { CommandVerdict } from "../commands/commands.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import type { ConversationDeps } from "../ports.ts";
import { clientReply, textsOf, type ClientReplyDeps } from "./client-reply.ts";
import type { ClientTurnContext } from "./client-turn.ts";
import type { RunOutcome } from "./contract.ts";
import { closeTurn, type AcceptedRow } from "./run-log.ts";
import { noteWrites } from "./transcript-note.ts";

export type ClientCommandDeps = ClientReplyDeps & Pick<ConversationDeps, "store" | "ids" | "commands">;

type Written = Pick<AcceptedRow, "sessionKey" | "agentId" | "message" | "channel" | "scopes" | "owner">;

/** Whether a text may hold a command or a setting, or may be a word that stops what runs. */
export const mayBeCommand = (text: string): boolean => /(?:^|\s)[/!]|^\s*\w+\s*$/.test(text.slice(0, 10_000));

/** Whether a client's message is a command, and what came of it. Only messages that say whose rights they carry are looked at. */
export async function clientVerdict(
  { commands }: Pick<ClientCommandDeps, "commands">,
  { scopes, message, sessionKey, agentId, channel, owner = false }: Written,
  { runId, signal, tookLong }: { readonly runId: string; readonly signal: AbortSignal; readonly tookLong?: () => void },
): Promise<CommandVerdict | undefined> {
  if (scopes === undefined || !mayBeCommand(message)) return undefined;
  const ctx = finalizeInboundContext({
    Body: message,
    RawBody: message,
    CommandBody: message,
    SessionKey: sessionKey,
    Provider: channel,
    Surface: channel,
    OriginatingChannel: channel,
    ChatType: "direct",
    MessageSid: runId,
    CommandSource: "text",
    CommandAuthorized: scopes.includes("operator.write") || scopes.includes("operator.admin"),
    GatewayClientScopes: [...scopes],
  });
  return commands.run({
    ctx,
    messageKey: `run:${runId}`,
    sessionKey,
    agentId,
    channel,
    accountId: "default",
    isGroup: false,
    authorized: ctx.CommandAuthorized,
    owner,
    scopes,
    source: "text",
    canAnswerAside: true,
    wasMentioned: true,
    signal,
    ...(tookLong ? { tookLong } : {}),
  });
}

/** What the gateway says in a session stands in its transcript, below what is there. */
async function textWrites(deps: ClientCommandDeps, row: AcceptedRow, text: string): Promise<readonly Write[]> {
  return text === "" ? [] : noteWrites(deps, row, (at) => gatewayMessage("gateway-injected", text, at));
}

/** An answer that no model gave: a command's, or a plugin's. */
export interface DirectAnswer {
  readonly verdict: Pick<Extract<CommandVerdict, { readonly kind: "answered" }>, "reply" | "outcome" | "why">;
  /** Inputs that it ends; the run's own unless given. */
  readonly inboxIds?: readonly number[];
  /** Runs that end with it. */
  readonly merged?: readonly AcceptedRow[];
  /** What plugins said. */
  readonly hooks?: readonly HookLogEntry[];
}

/** Ends a client's run with an answer that no model gave, in one commit, and tells it. */
export async function answerDirectly(
  deps: ClientCommandDeps,
  row: AcceptedRow,
  { verdict, inboxIds = [row.inboxId], merged = [], hooks = [] }: DirectAnswer,
  { emit }: Pick<ClientTurnContext, "emit">,
): Promise<RunOutcome> {
  const startedAt = deps.clock.now();
  const reply = await clientReply(deps, row, verdict.reply, { kind: "command" });
  const { texts, writes: sent } = reply;
  const text = texts.join("\n\n");
  const sessionId = (await deps.store.read("sessions.get", { key: row.sessionKey }))?.entry.sessionId ?? "";
  const result: RunOutcome = {
    status: "ok",
    text,
    sessionId,
    durationMs: 0,
    ...(text === "" ? { silent: true } : {}),
    ...(texts.length > 1 ? { payloads: texts } : {}),
  };
  const closed = { ...row, inboxIds, outcome: verdict.outcome, why: verdict.why, result, writes: sent, hooks: [...hooks, ...reply.log] };
  const noted = await textWrites(deps, row, text);
  // The transcript may have grown in between: then the answer is sent and not stored there.
  await closeTurn(deps, { ...closed, writes: [...sent, ...noted] }).catch(() => closeTurn(deps, closed));
  const endedAt = deps.clock.now();
  for (const one of [...merged, row]) {
    emit(one, { stream: "lifecycle", data: { phase: "start", startedAt } });
    if (text !== "" && one === row) emit(one, { stream: "assistant", data: { text, delta: text } });
    emit(one, { stream: "lifecycle", data: { phase: "end", startedAt, endedAt } });
  }
  reply.sent();
  return result;
}

/**
 * Sends what a command says beside the turn that follows it, as a message of its own. A status notice is for chats only: a client sees the new session
 * by itself. Gives the texts that the client is shown.
 */
export async function sendAsides(
  deps: ClientCommandDeps,
  row: AcceptedRow,
  asides: readonly ReplyPayload[],
  { emit }: Pick<ClientTurnContext, "emit">,
): Promise<readonly string[]> {
  const shown = row.reply ? asides : asides.filter(({ isStatusNotice }) => isStatusNotice !== true);
  const reply = await clientReply(deps, row, shown, { kind: "command" });
  const texts = reply.changed ? reply.texts : textsOf(asides.filter(({ isStatusNotice }) => isStatusNotice !== true));
  const noted = await textWrites(deps, row, texts.join("\n\n"));
  if (reply.writes.length > 0) await deps.store.commit(reply.writes);
  if (noted.length > 0) await deps.store.commit(noted).catch(() => {}); // The transcript grew in between: it is sent and not stored.
  for (const [at, text] of texts.entries()) {
    const aside = { runId: `${row.runId}:aside-${at}`, sessionKey: row.sessionKey };
    const now = deps.clock.now();
    emit(aside, { stream: "lifecycle", data: { phase: "start", startedAt: now } });
    emit(aside, { stream: "assistant", data: { text, delta: text } });
    emit(aside, { stream: "lifecycle", data: { phase: "end", startedAt: now, endedAt: now } });
  }
  reply.sent();
  return texts;
}
