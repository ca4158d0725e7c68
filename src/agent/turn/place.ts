import { AppError } from "../../base/errors.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { entryAfterReset, headerLine, resetDecision, resetPolicy, type SessionPath } from "../../sessions/index.ts";
import { transcriptFile, type InjectionRow, type SessionRow, type TranscriptRow, type Write } from "../../store/index.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput } from "./input.ts";

/** A turn that died this often is ended instead of taken up again. */
const MAX_RESUMPTIONS = 3;

/** The session that a turn writes to. */
export interface TurnPlace {
  readonly sessionId: string;
  /** Its transcript. */
  readonly file: string;
  readonly entry: SessionEntry;
  readonly path: SessionPath;
  /** Set when the session began with this turn: why, and what it followed. */
  readonly began?: { readonly reason: "new" | "daily" | "idle"; readonly former?: SessionEntry };
  /** Times the turn was taken up again, this one included. */
  readonly resumptions: number;
}

/** What waited for this turn. */
export type Injections = readonly InjectionRow[];

export interface Begun {
  readonly place: TurnPlace;
  /** Resolves when the beginning is on disk. */
  readonly committed: Promise<Injections>;
}

/** True when the commit was refused because of what somebody else wrote, as the named detail shows. */
export function overtaken(error: unknown, detail: "key" | "leaf"): boolean {
  return error instanceof AppError && error.code === "CONFLICT" && detail in error.details;
}

/**
 * Begins a turn, or takes it up again; makes the session when it is not there or out of date. The commit is under way when this resolves.
 * Undefined: the turn died too often.
 */
export async function beginTurn(deps: TurnDeps, input: TurnInput, workspaceDir: string): Promise<Begun | undefined> {
  const found = await findPlace(deps, input, workspaceDir);
  if (!found) return undefined;
  const committed = deps.store.commit(found.writes).then(
    (results) => ({ ok: true as const, injections: results.at(-1) as Injections }),
    (error: unknown) => ({ ok: false as const, error }),
  );
  return { place: found.place, committed: committed.then((result) => (result.ok ? result.injections : Promise.reject(result.error as Error))) };
}

async function findPlace(deps: TurnDeps, input: TurnInput, cwd: string): Promise<{ place: TurnPlace; writes: Write[] } | undefined> {
  const { store, clock, memory } = deps;
  const { agentId, sessionKey: key, runId } = input;
  const [session, turn] = await Promise.all([store.read("sessions.get", { key }), input.resumed ? store.read("turns.get", { id: runId }) : undefined]);
  if (turn && turn.resumptions >= MAX_RESUMPTIONS) return undefined;
  const now = clock.now();
  const { entry, began } = entryFor(deps, input, session, turn !== undefined);
  const { sessionId } = entry;
  const row = began ? undefined : await transcriptOf(deps, agentId, sessionId);
  const file = row?.file ?? transcriptFile(agentId, sessionId);
  const path: SessionPath = row ? await memory.path(file, row) : { file, leafId: null, items: [], state: {} };
  const writes: Write[] = [
    turn ? ["turns.resume", { id: runId }] : ["turns.start", { id: runId, sessionKey: key, agentId }],
    ["inbox.claim", { ids: input.inboxIds, turnId: runId }],
  ];
  if (!row) writes.push(["transcripts.ensure", { file, agentId, sessionId, header: headerLine({ sessionId, at: now, cwd }) }]);
  if (began) writes.push(["sessions.put", { key, agentId, entry, version: session?.version ?? 0 }]);
  else if (session) writes.push(["sessions.patch", { key, patch: { lastChannel: input.channel }, version: session.version }]);
  writes.push(["injections.drain", { sessionKey: key, turnId: runId }]);
  const resumptions = turn ? turn.resumptions + 1 : 0;
  return { place: { sessionId, file, entry, path, resumptions, ...(began ? { began } : {}) }, writes };
}

/** The entry that holds for this turn: the one that is there, or a new one when it is missing or out of date. */
function entryFor(
  deps: TurnDeps,
  { sessionKey, channel }: TurnInput,
  session: SessionRow | undefined,
  resumed: boolean,
): { readonly entry: SessionEntry; readonly began?: TurnPlace["began"] & {} } {
  const now = deps.clock.now();
  const fresh = { updatedAt: now, chatType: "direct", channel, lastChannel: channel, systemSent: false };
  if (!session) return { entry: { sessionId: deps.ids.uuid(), ...fresh }, began: { reason: "new" } };
  const former = session.entry;
  if (resumed) return { entry: former };
  const facts = { sessionKey, channel, chatType: former.chatType };
  const decision = resetDecision(former, resetPolicy(deps.config.current.session, facts), now, facts);
  if (decision.kind !== "expired") return { entry: former };
  return {
    entry: { ...entryAfterReset(former, "expired", { sessionId: deps.ids.uuid(), now }), lastChannel: channel },
    began: { reason: decision.why, former },
  };
}

/** The transcript of a session that is in use; undefined when it has none yet. */
export async function transcriptOf({ store }: Pick<TurnDeps, "store">, agentId: string, sessionId: string): Promise<TranscriptRow | undefined> {
  const row = await store.read("transcripts.get", { file: transcriptFile(agentId, sessionId) });
  if (row && row.archivedAt === null && row.sessionId === sessionId) return row;
  return (await store.read("transcripts.ofSession", { agentId, sessionId })).find(({ archivedAt }) => archivedAt === null);
}
