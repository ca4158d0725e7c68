/** The transcript of a session, and a copy of it for a thread that begins with what was said before. */
import { isRecord } from "../../base/records.ts";
import { headerLine } from "../../sessions/index.ts";
import { transcriptFile, type EntryInput, type EntryRow, type TranscriptRow } from "../../store/index.ts";
import type { TurnDeps } from "./deps.ts";

/** Most entries that are copied, the last ones. */
const MOST_COPIED = 500;

/** The transcript of a session that is in use; undefined when it has none yet. */
export async function transcriptOf({ store }: Pick<TurnDeps, "store">, agentId: string, sessionId: string): Promise<TranscriptRow | undefined> {
  const row = await store.read("transcripts.get", { file: transcriptFile(agentId, sessionId) });
  if (row && row.archivedAt === null && row.sessionId === sessionId) return row;
  return (await store.read("transcripts.ofSession", { agentId, sessionId })).find(({ archivedAt }) => archivedAt === null);
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(line);
  return isRecord(value) ? value : {};
}

/** Without what the last compaction has summed up. */
function stillUsed(rows: readonly EntryRow[]): readonly EntryRow[] {
  const compaction = rows.findLast(({ type }) => type === "compaction");
  const first = compaction && fieldsOf(compaction.line)["firstKeptEntryId"];
  const at = rows.findIndex(({ id }) => id !== null && id === first);
  return at > 0 ? rows.slice(at) : rows;
}

/** The first one is the root. */
function copied(rows: readonly EntryRow[]): EntryInput[] {
  return rows.map(({ id, parentId, type, line }, at) =>
    at === 0 && parentId !== null
      ? { id: id ?? undefined, parentId: null, type, line: JSON.stringify({ ...fieldsOf(line), parentId: null }) }
      : { id: id ?? undefined, parentId, type, line },
  );
}

interface ForkRequest {
  readonly agentId: string;
  /** Of a session of the same agent. */
  readonly parentKey: string;
  /** The new session. */
  readonly sessionId: string;
  readonly cwd: string;
}

/**
 * Makes the transcript of a new session from the branch in use of its parent's. Undefined: there is nothing to begin with. It is committed before the
 * session: killed in between, the copy belongs to no session, and the next attempt makes another.
 */
export async function forkTranscript(
  deps: Pick<TurnDeps, "store" | "clock">,
  { agentId, parentKey, sessionId, cwd }: ForkRequest,
): Promise<TranscriptRow | undefined> {
  const { store, clock } = deps;
  const parent = await store.read("sessions.get", { key: parentKey });
  if (parent?.agentId !== agentId) return undefined;
  const from = await transcriptOf(deps, agentId, parent.entry.sessionId);
  const rows = from ? stillUsed(await store.read("transcripts.path", { file: from.file, limit: MOST_COPIED })) : [];
  if (!from || rows.length === 0) return undefined;
  const file = transcriptFile(agentId, sessionId);
  await store.commit([
    ["transcripts.ensure", { file, agentId, sessionId, header: headerLine({ sessionId, at: clock.now(), cwd, parentSession: from.file }) }],
    ["transcripts.append", { file, entries: copied(rows) }],
  ]);
  return store.read("transcripts.get", { file });
}
