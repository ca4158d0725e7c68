import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { finalizeInboundContext } from "../../channels/index.ts";
import { gatewayMessage, headerLine, messageEntry } from "../../sessions/index.ts";
import { transcriptFile, type Store, type Write } from "../../store/index.ts";
import type { Commands, CommandVerdict } from "../commands/commands.ts";
import type { ClientTurnContext } from "./client-turn.ts";
import type { RunOutcome } from "./contract.ts";
import { closeTurn, type AcceptedRow } from "./run-log.ts";

export interface ClientCommandDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly commands: Pick<Commands, "run">;
}

/** Whether a client's message is a command, and what came of it. Only messages that say whose rights they carry are looked at. */
export async function clientVerdict({ commands }: ClientCommandDeps, row: AcceptedRow): Promise<CommandVerdict | undefined> {
  const { scopes, message, sessionKey, agentId, channel, owner = false, runId } = row;
  if (scopes === undefined || !/(?:^|\s)[/!]|^\s*\w+\s*$/.test(message.slice(0, 10_000))) return undefined;
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
    signal: new AbortController().signal,
  });
}

/** What the gateway says in a session stands in its transcript, below what is there. */
async function noteWrites({ store, ids, clock }: ClientCommandDeps, { sessionKey, agentId }: AcceptedRow, text: string): Promise<readonly Write[]> {
  const session = await store.read("sessions.get", { key: sessionKey });
  if (!session) return [];
  const { sessionId } = session.entry;
  const file = transcriptFile(agentId, sessionId);
  const at = clock.now();
  const parentId = (await store.read("transcripts.get", { file }))?.leafId ?? null;
  const entry = messageEntry({ ids, parentId, at }, gatewayMessage("gateway-injected", text, at));
  return [
    ["transcripts.ensure", { file, agentId, sessionId, header: headerLine({ sessionId, at, cwd: "" }) }],
    ["transcripts.append", { file, entries: [entry], expectLeaf: parentId }],
  ];
}

/** Ends a client's run with the answer to its command, in one commit, and tells it. */
export async function answerCommand(
  deps: ClientCommandDeps,
  row: AcceptedRow,
  verdict: Extract<CommandVerdict, { readonly kind: "answered" }>,
  { emit }: Pick<ClientTurnContext, "emit">,
): Promise<RunOutcome> {
  const startedAt = deps.clock.now();
  const text = verdict.reply.flatMap((payload) => (payload.text === undefined ? [] : [payload.text])).join("\n\n");
  const result: RunOutcome = { status: "ok", text, sessionId: "", durationMs: 0, ...(text === "" ? { silent: true } : {}) };
  const closed = { ...row, inboxIds: [row.inboxId], outcome: verdict.outcome, why: verdict.why, result };
  const writes = text === "" ? [] : await noteWrites(deps, row, text);
  // The transcript may have grown meanwhile: then the answer is told and not kept there.
  await closeTurn(deps, { ...closed, writes }).catch(() => closeTurn(deps, closed));
  emit(row, { stream: "lifecycle", data: { phase: "start", startedAt } });
  if (text !== "") emit(row, { stream: "assistant", data: { text, delta: text } });
  emit(row, { stream: "lifecycle", data: { phase: "end", startedAt, endedAt: deps.clock.now() } });
  return result;
}
