import { finalizeInboundContext } from "../../channels/index.ts";
import { gatewayMessage } from "../../sessions/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import type { Write } from "../../store/index.ts";
import type { CommandVerdict } from "../commands/commands.ts";
import type { ConversationDeps } from "../ports.ts";
import type { ClientTurnContext } from "./client-turn.ts";
import type { RunOutcome } from "./contract.ts";
import { closeTurn, type AcceptedRow } from "./run-log.ts";
import { noteWrites } from "./transcript-note.ts";

export type ClientCommandDeps = Pick<ConversationDeps, "store" | "clock" | "ids" | "commands" | "delivery">;

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

const textsOf = (payloads: readonly ReplyPayload[]): readonly string[] => payloads.flatMap(({ text }) => (text === undefined || text === "" ? [] : [text]));

/** Messages for the chat that the client wants its answer sent to. */
async function replyWrites({ delivery }: ClientCommandDeps, row: AcceptedRow, payloads: readonly ReplyPayload[]): Promise<readonly Write[]> {
  const { reply, sessionKey, agentId, runId } = row;
  if (!reply || payloads.length === 0) return [];
  return (await delivery.prepare(reply, payloads, { kind: "command", sessionKey, agentId, runId })).writes;
}

/** Ends a client's run with the answer to its command, in one commit, and tells it. */
export async function answerCommand(
  deps: ClientCommandDeps,
  row: AcceptedRow,
  verdict: Extract<CommandVerdict, { readonly kind: "answered" }>,
  { emit }: Pick<ClientTurnContext, "emit">,
): Promise<RunOutcome> {
  const startedAt = deps.clock.now();
  const texts = textsOf(verdict.reply);
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
  const sent = await replyWrites(deps, row, verdict.reply);
  const closed = { ...row, inboxIds: [row.inboxId], outcome: verdict.outcome, why: verdict.why, result, writes: sent };
  const noted = await textWrites(deps, row, text);
  // The transcript may have grown in between: then the answer is sent and not stored there.
  await closeTurn(deps, { ...closed, writes: [...sent, ...noted] }).catch(() => closeTurn(deps, closed));
  if (sent.length > 0) deps.delivery.kick();
  const endedAt = deps.clock.now();
  emit(row, { stream: "lifecycle", data: { phase: "start", startedAt } });
  if (text !== "") emit(row, { stream: "assistant", data: { text, delta: text } });
  emit(row, { stream: "lifecycle", data: { phase: "end", startedAt, endedAt } });
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
  const sent = await replyWrites(deps, row, asides);
  const texts = textsOf(asides.filter(({ isStatusNotice }) => isStatusNotice !== true));
  const noted = await textWrites(deps, row, texts.join("\n\n"));
  if (sent.length > 0) {
    await deps.store.commit(sent);
    deps.delivery.kick();
  }
  if (noted.length > 0) await deps.store.commit(noted).catch(() => {}); // The transcript grew in between: it is sent and not stored.
  for (const [at, text] of texts.entries()) {
    const aside = { runId: `${row.runId}:aside-${at}`, sessionKey: row.sessionKey };
    const now = deps.clock.now();
    emit(aside, { stream: "lifecycle", data: { phase: "start", startedAt: now } });
    emit(aside, { stream: "assistant", data: { text, delta: text } });
    emit(aside, { stream: "lifecycle", data: { phase: "end", startedAt: now, endedAt: now } });
  }
  return texts;
}
