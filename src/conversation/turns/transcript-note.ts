/** What the gateway itself writes below the messages of a session. */
import { gatewayMessage, headerLine, messageEntry } from "../../sessions/index.ts";
import { transcriptFile, type Write } from "../../store/index.ts";
import type { RunOutcome } from "./contract.ts";
import { closeTurn, type ClosedTurn, type RunLogDeps } from "./run-log.ts";

type Message = ReturnType<typeof gatewayMessage>;

/** A message of the gateway as the newest entry of a session's transcript. Nothing where there is no session. */
export async function noteWrites(
  { store, ids, clock }: RunLogDeps,
  { sessionKey, agentId }: Pick<ClosedTurn, "sessionKey" | "agentId">,
  messageAt: (at: number) => Message & { readonly errorMessage?: string },
): Promise<readonly Write[]> {
  const session = await store.read("sessions.get", { key: sessionKey });
  if (!session) return [];
  const { sessionId } = session.entry;
  const file = transcriptFile(agentId, sessionId);
  const at = clock.now();
  const parentId = (await store.read("transcripts.get", { file }))?.leafId ?? null;
  const entry = messageEntry({ ids, parentId, at }, messageAt(at));
  return [
    ["transcripts.ensure", { file, agentId, sessionId, header: headerLine({ sessionId, at, cwd: "" }) }],
    ["transcripts.append", { file, entries: [entry], expectLeaf: parentId }],
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
export async function closeUnanswered(deps: RunLogDeps, closed: ClosedTurn): Promise<void> {
  const note = await noteWrites(deps, closed, (at) => failureNote(closed, at));
  // The transcript may have grown in between: then the run ends without its note.
  await closeTurn(deps, { ...closed, writes: [...(closed.writes ?? []), ...note] }).catch(() => closeTurn(deps, closed));
}
