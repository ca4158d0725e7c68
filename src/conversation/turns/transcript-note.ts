/** What the gateway itself writes below the messages of a session. */
import type { TurnInput } from "../../agent/index.ts";
import type { UserMessage } from "../../protocol/index.ts";
import { gatewayMessage, headerLine, messageEntry } from "../../sessions/index.ts";
import { transcriptFile, type Write } from "../../store/index.ts";
import type { RunOutcome } from "./contract.ts";
import { closeTurn, wasPrompted, type ClosedTurn, type RunLogDeps } from "./run-log.ts";

type Message = ReturnType<typeof gatewayMessage>;

/** What the user wrote, where no turn got as far as storing it. */
export type Said = Pick<TurnInput, "message" | "images">;

const userMessage = ({ message, images = [] }: Said, timestamp: number): UserMessage => ({
  role: "user",
  content: [{ type: "text", text: message }, ...images],
  timestamp,
});

/** What a turn that is given up was asked, unless the transcript has it. */
export async function unsaidOf({ store }: Pick<RunLogDeps, "store">, input: TurnInput): Promise<Said | undefined> {
  return (await wasPrompted({ store }, input.runId).catch(() => true)) ? undefined : input;
}

/** A message of the gateway as the newest entry of a session's transcript. Nothing where there is no session. */
export async function noteWrites(
  { store, ids, clock }: RunLogDeps,
  { sessionKey, agentId }: Pick<ClosedTurn, "sessionKey" | "agentId">,
  messageAt: (at: number) => Message & { readonly errorMessage?: string },
  said?: Said,
): Promise<readonly Write[]> {
  const session = await store.read("sessions.get", { key: sessionKey });
  if (!session) return [];
  const { sessionId } = session.entry;
  const file = transcriptFile(agentId, sessionId);
  const at = clock.now();
  const parentId = (await store.read("transcripts.get", { file }))?.leafId ?? null;
  const first = said && messageEntry({ ids, parentId, at }, userMessage(said, at));
  const entry = messageEntry({ ids, parentId: first?.id ?? parentId, at }, messageAt(at));
  return [
    ["transcripts.ensure", { file, agentId, sessionId, header: headerLine({ sessionId, at, cwd: "" }) }],
    ["transcripts.append", { file, entries: first ? [first, entry] : [entry], expectLeaf: parentId }],
  ];
}

/** An answer with nothing in it and the reason: people are shown it, and models skip answers that failed. */
function failureNote({ runId, result, why }: ClosedTurn, at: number): Message & { readonly errorMessage: string } {
  if (result.status === "aborted") {
    const abort = { runId, origin: /\((.+)\)/.exec(why)?.[1] ?? "rpc" };
    return { ...gatewayMessage("gateway-injected", "", at, { abort }), errorMessage: "cancelled before it was answered" };
  }
  return { ...gatewayMessage("gateway-injected", "", at), stopReason: "error", errorMessage: (result as Extract<RunOutcome, { status: "error" }>).error };
}

/** Ends a turn that got no answer, with a note in its session's history that says so, in one commit. */
export async function closeUnanswered(deps: RunLogDeps, closed: ClosedTurn, said?: Said): Promise<void> {
  const note = await noteWrites(deps, closed, (at) => failureNote(closed, at), said);
  // The transcript may have grown in between: then the run ends without its note.
  await closeTurn(deps, { ...closed, writes: [...(closed.writes ?? []), ...note] }).catch(() => closeTurn(deps, closed));
}
