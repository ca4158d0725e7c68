import { isRecord } from "../../base/records.ts";
import { AppError } from "../../base/errors.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { entryAfterReset, headerLine, resetDecision, resetPolicy, type HeldPath, type SessionPath } from "../../sessions/index.ts";
import { patchedEntry, transcriptFile, type InjectionRow, type SessionRow, type TurnRow, type Write } from "../../store/index.ts";
import type { TurnDeps } from "./deps.ts";
import { forkTranscript, transcriptOf } from "./fork.ts";
import type { TurnInput } from "./input.ts";

/** A turn that died this often is ended instead of resumed. */
const MAX_RESUMPTIONS = 3;

/** The session and the transcript that a turn writes to. */
export interface TurnTarget {
  readonly sessionId: string;
  /** Its transcript. */
  readonly file: string;
  readonly entry: SessionEntry;
  /** The session as the beginning of the turn leaves it in the store. */
  readonly row: SessionRow;
  readonly path: SessionPath;
  /** Set when the session began with this turn: why, and what it followed. */
  readonly began?: { readonly reason: "new" | "daily" | "idle"; readonly former?: SessionEntry } | undefined;
  /** Where the conversation stood before a turn that may be forgotten. */
  readonly before?: string | null;
  /** Times the turn was resumed, this one included. */
  readonly resumptions: number;
  /** Set when the beginning goes with the turn's first commit; resolves with it. */
  readonly begun?: Promise<unknown>;
}

/** What waited for this turn. */
export type Injections = readonly InjectionRow[];

export interface Begun {
  readonly target: TurnTarget;
  /** Resolves when it is certain that the session is as it was found: at once, or when the beginning is on disk. Gives what waited for it. */
  readonly committed: Promise<Injections>;
}

/** True when the commit was refused because of what another writer did, as the named detail shows. */
export function overtaken(error: unknown, detail: "key" | "leaf" | "lines"): boolean {
  return error instanceof AppError && error.code === "CONFLICT" && detail in error.details;
}

/** True when the beginning of a turn was refused: only it asserts the session and the length of its transcript. */
export function isBeginningRefused(error: unknown): boolean {
  return overtaken(error, "key") || overtaken(error, "lines");
}

/**
 * Begins or resumes a turn; makes the session when it is not there or out of date. The commit asserts what was found. It is under way when this
 * resolves; when no one in this process touched the session since its last turn, it goes with the turn's first one. Killed before it is on disk, the message
 * is simply begun again. Undefined: the turn was interrupted too often.
 */
export async function beginTurn(deps: TurnDeps, input: TurnInput, workspaceDir: string): Promise<Begun | undefined> {
  const { store, session } = deps;
  const found = await findSession(deps, input);
  const { turn, held } = found;
  if (turn && turn.resumptions >= MAX_RESUMPTIONS) return undefined;
  const { entry, began } = entryFor(deps, input, found.row, turn !== undefined);
  const { row, write } = rowFor(input, found.row, entry, began !== undefined);
  const { path, write: transcript } = await transcriptFor(deps, input.agentId, {
    sessionId: entry.sessionId,
    cwd: workspaceDir,
    began: began !== undefined,
    held,
    forkOf: began?.reason === "new" ? input.forkOf : undefined,
  });
  const resumptions = turn ? turn.resumptions + 1 : 0;
  const before = input.trigger === "heartbeat" ? { before: turn ? leafBefore(turn) : path.leafId } : {};
  const target: TurnTarget = { sessionId: entry.sessionId, file: path.file, entry, row, path, ...before, resumptions, began };
  const { runId: turnId, sessionKey, agentId, eventsOf } = input;
  const started: readonly Write[] = turn
    ? [
        ["turns.resume", { id: turnId }],
        ["journal.append", { turnId, kind: "note", data: { resumed: resumptions } }],
      ]
    : [["turns.start", { id: turnId, sessionKey, agentId, ...(input.trigger === "heartbeat" ? { detail: before } : {}) }]];
  const writes: readonly Write[] = [...started, ["inbox.claim", { ids: input.inboxIds, turnId }], transcript, write];
  if (held && write[0] === "sessions.expect" && session.isTouched === false && eventsOf === undefined) {
    const begun = store.commit(writes, { lazy: true, patient: true, by: session });
    begun.catch(() => {}); // Reported by the first commit. A turn that is left has none.
    return { target: { ...target, begun }, committed: Promise.resolve([]) };
  }
  // What came while a turn was interrupted waits for the one after it.
  const unheard = input.hearing === "nobody";
  if (session.isTouched !== undefined) session.isTouched = turn !== undefined || unheard;
  // Of another session only what asks for a heartbeat is taken: the rest is for that session itself.
  // Lost with the machine, it is simply begun again; what follows from it is synced with it. Drained first: its answer is the first of the commit's.
  // A message that is answered once more was asked before: what waits is for the next one.
  const drained = { sessionKey: eventsOf ?? sessionKey, turnId, waking: eventsOf !== undefined, again: turn !== undefined, unheard };
  const committed: Promise<Injections> = input.again
    ? store.commit(writes, { lazy: true, by: session }).then(() => [])
    : store.commit([["injections.drain", drained], ...writes], { lazy: true, by: session }).then(([injections]) => injections);
  committed.catch(() => {}); // Reported where it is waited for.
  return { target, committed };
}

/** Where the conversation stood before a turn that is resumed. */
function leafBefore({ detail }: TurnRow): string | null {
  const leaf = isRecord(detail) ? detail["before"] : undefined;
  return typeof leaf === "string" ? leaf : null;
}

/** What is there before the turn. */
interface Found {
  readonly row: SessionRow | undefined;
  readonly turn: TurnRow | undefined;
  /** The branch as it is held. */
  readonly held?: HeldPath;
}

/** The session as its owner holds it, which is to be asserted, or as it is in the store. A turn that is refused finds nothing held the next time. */
async function findSession({ store, session: open }: TurnDeps, { sessionKey: key, runId, resumed }: TurnInput): Promise<Found> {
  const { row } = open;
  open.row = undefined;
  const held = row && !resumed ? open.held : undefined;
  if (held && held.standing.sessionId === row?.entry.sessionId) return { row, turn: undefined, held };
  const [stored, turn] = await Promise.all([store.read("sessions.get", { key }), resumed ? store.read("turns.get", { id: runId }) : undefined]);
  return { row: stored, turn };
}

interface TranscriptRequest {
  readonly sessionId: string;
  readonly cwd: string;
  readonly began: boolean;
  readonly held: HeldPath | undefined;
  readonly forkOf: string | undefined;
}

/** The branch that a turn goes on from, and the write that makes sure of its transcript. */
async function transcriptFor(
  deps: TurnDeps,
  agentId: string,
  { sessionId, cwd, began, held, forkOf }: TranscriptRequest,
): Promise<{ readonly path: SessionPath; readonly write: Write }> {
  if (held && !began) return { path: held.path, write: ["transcripts.expect", held.standing] };
  const forked = forkOf === undefined ? undefined : await forkTranscript(deps, { agentId, parentKey: forkOf, sessionId, cwd });
  const known = began ? forked : await transcriptOf(deps, agentId, sessionId);
  const row = known ?? { file: transcriptFile(agentId, sessionId), agentId, sessionId };
  const path: SessionPath = known ? await deps.session.path(known.file, known) : { file: row.file, leafId: null, items: [], state: {} };
  // The file of an old session may be compressed: this restores it before a plugin looks for it.
  const header = headerLine({ sessionId, at: deps.clock.now(), cwd });
  return { path, write: ["transcripts.ensure", { file: row.file, agentId: row.agentId, sessionId: row.sessionId, header }] };
}

/** How the session stands once the turn has begun, and the write that makes it so. When the message changes nothing of it, only that it is as it was read. */
function rowFor(
  { agentId, sessionKey: key, channel, entryFields: patch = { lastChannel: channel } }: TurnInput,
  found: SessionRow | undefined,
  entry: SessionEntry,
  began: boolean,
): { readonly row: SessionRow; readonly write: Write } {
  const version = found?.version ?? 0;
  const row = { key, agentId: found?.agentId ?? agentId, version: version + 1, entry };
  if (began) return { row: { ...row, agentId }, write: ["sessions.put", { key, agentId, entry, version }] };
  if (holdsAlready(entry, patch)) return { row: { ...row, version }, write: ["sessions.expect", { key, version }] };
  return { row: { ...row, entry: patchedEntry(entry, patch) }, write: ["sessions.merge", { key, patch, version }] };
}

/** Whether a change would leave an entry as it is. */
export function holdsAlready(entry: SessionEntry, patch: Readonly<Record<string, unknown>>): boolean {
  for (const [name, value] of Object.entries(patch)) {
    const held = entry[name] ?? null;
    const wanted = value ?? null;
    if (held === wanted) continue;
    if (typeof wanted !== "object" || typeof held !== "object" || JSON.stringify(held) !== JSON.stringify(wanted)) return false;
  }
  return true;
}

/** The entry that holds for this turn: the one that is there, or a new one when it is missing or out of date. */
function entryFor(
  deps: TurnDeps,
  { sessionKey, channel, entryFields = {} }: TurnInput,
  found: SessionRow | undefined,
  resumed: boolean,
): { readonly entry: SessionEntry; readonly began?: TurnTarget["began"] } {
  const now = deps.clock.now();
  const former = found?.entry;
  if (former && resumed) return { entry: former };
  const facts = { sessionKey, channel, chatType: former?.chatType };
  const decision = resetDecision(former, resetPolicy(deps.config.current.session, facts), now, facts);
  if (former && decision.kind !== "expired") return { entry: former };
  const sessionId = deps.ids.uuid();
  // There is nothing to take away from a new entry yet.
  const fields = Object.fromEntries(Object.entries(entryFields).filter(([, value]) => value !== null));
  if (former && decision.kind === "expired") {
    const entry = { ...entryAfterReset(former, "expired", { sessionId, now }), lastChannel: channel, ...fields };
    return { entry, began: { reason: decision.why, former } };
  }
  return { entry: { sessionId, updatedAt: now, chatType: "direct", channel, lastChannel: channel, systemSent: false, ...fields }, began: { reason: "new" } };
}
