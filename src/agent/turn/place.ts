import { AppError } from "../../base/errors.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { entryAfterReset, headerLine, resetDecision, resetPolicy, type HeldPath, type SessionPath } from "../../sessions/index.ts";
import { patchedEntry, transcriptFile, type InjectionRow, type SessionRow, type TranscriptRow, type TurnRow, type Write } from "../../store/index.ts";
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
  /** The session as the beginning of the turn leaves it in the store. */
  readonly row: SessionRow;
  readonly path: SessionPath;
  /** Set when the session began with this turn: why, and what it followed. */
  readonly began?: { readonly reason: "new" | "daily" | "idle"; readonly former?: SessionEntry };
  /** Times the turn was taken up again, this one included. */
  readonly resumptions: number;
  /** Set when the beginning goes with the turn's first commit; resolves with it. */
  readonly begun?: Promise<unknown>;
}

/** What waited for this turn. */
export type Injections = readonly InjectionRow[];

export interface Begun {
  readonly place: TurnPlace;
  /** Resolves when it is certain that the session is as it was found: at once, or when the beginning is on disk. Gives what waited for it. */
  readonly committed: Promise<Injections>;
}

/** True when the commit was refused because of what another writer did, as the named detail shows. */
export function overtaken(error: unknown, detail: "key" | "leaf" | "lines"): boolean {
  return error instanceof AppError && error.code === "CONFLICT" && detail in error.details;
}

/**
 * Begins a turn, or takes it up again; makes the session when it is not there or out of date. The commit asserts what was found. It is under way when this
 * resolves; when no one in this process touched the session since its last turn, it goes with the turn's first one. Killed before it is on disk, the message
 * is simply begun again. Undefined: the turn died too often.
 */
export async function beginTurn(deps: TurnDeps, input: TurnInput, workspaceDir: string): Promise<Begun | undefined> {
  const found = await findPlace(deps, input, workspaceDir);
  if (!found) return undefined;
  const { store, session } = deps;
  const { place, writes, drain, isAsHeld } = found;
  if (isAsHeld && session.isTouched === false) {
    const begun = store.commit(writes, { lazy: true, patient: true, by: session });
    begun.catch(() => {}); // Reported by the first commit. A turn that is left has none.
    return { place: { ...place, begun }, committed: Promise.resolve([]) };
  }
  if (session.isTouched !== undefined) session.isTouched = false;
  // Lost with the machine, it is simply begun again; what follows from it is synced with it.
  const committed = store.commit([...writes, drain], { lazy: true, by: session }).then((results) => results.at(-1) as Injections);
  committed.catch(() => {}); // Reported where it is waited for.
  return { place, committed };
}

/** What is there before the turn. */
interface Found {
  readonly session: SessionRow | undefined;
  readonly turn: TurnRow | undefined;
  /** The branch as it is held. */
  readonly held?: HeldPath;
}

/** The session as its owner holds it, which is to be asserted, or as it is in the store. A turn that is refused finds nothing held the next time. */
async function find({ store, session: open }: TurnDeps, { sessionKey: key, runId, resumed }: TurnInput): Promise<Found> {
  const { row } = open;
  open.row = undefined;
  const held = row && !resumed ? open.held() : undefined;
  if (row && held?.standing.sessionId === row.entry.sessionId) return { session: row, turn: undefined, held };
  const [session, turn] = await Promise.all([store.read("sessions.get", { key }), resumed ? store.read("turns.get", { id: runId }) : undefined]);
  return { session, turn };
}

/** The transcript that a turn goes on in, and the write that makes sure of it. */
interface Transcript {
  readonly file: string;
  readonly path: SessionPath;
  readonly writes: readonly Write[];
}

async function transcriptFor(
  deps: TurnDeps,
  agentId: string,
  { sessionId, began, held, cwd }: { readonly sessionId: string; readonly began: boolean; readonly held: HeldPath | undefined; readonly cwd: string },
): Promise<Transcript> {
  if (held && !began) return { file: held.path.file, path: held.path, writes: [["transcripts.expect", held.standing]] };
  const row = began ? undefined : await transcriptOf(deps, agentId, sessionId);
  const header = headerLine({ sessionId, at: deps.clock.now(), cwd });
  if (row) {
    // The file of an old session may be compressed: this gives it back before a plugin looks for it.
    const { file, agentId: owner, sessionId: id } = row;
    return { file, path: await deps.session.path(file, row), writes: [["transcripts.ensure", { file, agentId: owner, sessionId: id, header }]] };
  }
  const file = transcriptFile(agentId, sessionId);
  return { file, path: { file, leafId: null, items: [], state: {} }, writes: [["transcripts.ensure", { file, agentId, sessionId, header }]] };
}

interface FoundPlace {
  readonly place: TurnPlace;
  readonly writes: readonly Write[];
  /** Takes what waits for the session's next turn. */
  readonly drain: Write;
  /** The session goes on as its owner held it. */
  readonly isAsHeld: boolean;
}

async function findPlace(deps: TurnDeps, input: TurnInput, cwd: string): Promise<FoundPlace | undefined> {
  const { agentId, sessionKey: key, runId } = input;
  const { session, turn, held } = await find(deps, input);
  if (turn && turn.resumptions >= MAX_RESUMPTIONS) return undefined;
  const { entry, began } = entryFor(deps, input, session, turn !== undefined);
  const { sessionId } = entry;
  const { file, path, writes: transcript } = await transcriptFor(deps, agentId, { sessionId, began: began !== undefined, held, cwd });
  const resumptions = turn ? turn.resumptions + 1 : 0;
  const { row, write } = rowFor(input, session, entry, began !== undefined);
  const writes: Write[] = [
    ...(turn
      ? ([
          ["turns.resume", { id: runId }],
          ["journal.append", { turnId: runId, kind: "note", data: { resumed: resumptions } }],
        ] as const)
      : ([["turns.start", { id: runId, sessionKey: key, agentId }]] as const)),
    ["inbox.claim", { ids: input.inboxIds, turnId: runId }],
  ];
  const place = { sessionId, file, entry, row, path, resumptions, ...(began ? { began } : {}) };
  const isAsHeld = held !== undefined && write[0] === "sessions.expect";
  return { place, writes: [...writes, ...transcript, write], drain: ["injections.drain", { sessionKey: key, turnId: runId }], isAsHeld };
}

/** How the session stands once the turn has begun, and the write that makes it so. When the message tells nothing new of it, only that it is as it was read. */
function rowFor(
  { agentId, sessionKey: key, channel, entryFields: patch = { lastChannel: channel } }: TurnInput,
  session: SessionRow | undefined,
  entry: SessionEntry,
  began: boolean,
): { readonly row: SessionRow; readonly write: Write } {
  const version = session?.version ?? 0;
  const row = { key, agentId: session?.agentId ?? agentId, version: version + 1, entry };
  if (began) return { row: { ...row, agentId }, write: ["sessions.put", { key, agentId, entry, version }] };
  if (holdsAlready(entry, patch)) return { row: { ...row, version }, write: ["sessions.expect", { key, version }] };
  return { row: { ...row, entry: patchedEntry(entry, patch) }, write: ["sessions.merge", { key, patch, version }] };
}

/** Whether a change would leave an entry as it is. */
export function holdsAlready(entry: SessionEntry, patch: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(patch).every(([name, value]) => {
    const held = entry[name] ?? null;
    const wanted = value ?? null;
    return held === wanted || (typeof wanted === "object" && typeof held === "object" && JSON.stringify(held) === JSON.stringify(wanted));
  });
}

/** The entry that holds for this turn: the one that is there, or a new one when it is missing or out of date. */
function entryFor(
  deps: TurnDeps,
  { sessionKey, channel, entryFields = {} }: TurnInput,
  session: SessionRow | undefined,
  resumed: boolean,
): { readonly entry: SessionEntry; readonly began?: TurnPlace["began"] & {} } {
  const now = deps.clock.now();
  const fresh = { updatedAt: now, chatType: "direct", channel, lastChannel: channel, systemSent: false, ...told(entryFields) };
  if (!session) return { entry: { sessionId: deps.ids.uuid(), ...fresh }, began: { reason: "new" } };
  const former = session.entry;
  if (resumed) return { entry: former };
  const facts = { sessionKey, channel, chatType: former.chatType };
  const decision = resetDecision(former, resetPolicy(deps.config.current.session, facts), now, facts);
  if (decision.kind !== "expired") return { entry: former };
  return {
    entry: { ...entryAfterReset(former, "expired", { sessionId: deps.ids.uuid(), now }), lastChannel: channel, ...told(entryFields) },
    began: { reason: decision.why, former },
  };
}

/** Fields for a new entry: there is nothing to take away yet. */
const told = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** The transcript of a session that is in use; undefined when it has none yet. */
export async function transcriptOf({ store }: Pick<TurnDeps, "store">, agentId: string, sessionId: string): Promise<TranscriptRow | undefined> {
  const row = await store.read("transcripts.get", { file: transcriptFile(agentId, sessionId) });
  if (row && row.archivedAt === null && row.sessionId === sessionId) return row;
  return (await store.read("transcripts.ofSession", { agentId, sessionId })).find(({ archivedAt }) => archivedAt === null);
}
