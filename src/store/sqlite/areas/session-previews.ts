import { previewFrom, shownText, titleFrom, type MessageText } from "../../../base/message-text.ts";
import { readableKey, sessionName } from "../../../base/session-name.ts";
import type { SessionRow, ShownSession } from "../../areas/sessions.ts";
import { createLineReader, transcriptFile } from "../../projection/index.ts";
import type { ReadContext, SessionPreview } from "../handlers.ts";
import { allRows } from "../../rows.ts";
import { firstOnBranch } from "./branches.ts";

/** Lines inspected for a title or a last message. */
const LOOKED_AT = 20;
/** Pending messages inspected for the names of new sessions. */
const MOST_WAITING = 1000;
/** Beyond this number the cache is cleared: roughly 500 bytes each. */
const MAX_PREVIEWS = 20_000;

interface Transcript {
  readonly tid: number;
  readonly leaf: string | null;
  readonly stamp: string;
}

/** The fields of a session that a preview needs. */
export interface SessionRef {
  readonly key: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly version: number;
}

/** The live transcript: the session's main one, or its first. */
function liveTranscript({ sql }: ReadContext, { agentId, sessionId }: SessionRef): Transcript | undefined {
  const text = `SELECT tid, leaf_id AS leaf, tid || ' ' || created_at || ' ' || next_seq || ' ' || coalesce(leaf_id, '') || ' ' || bytes AS stamp, file FROM transcripts
    WHERE agent_id = ? AND session_id = ? AND archived_at IS NULL ORDER BY tid`;
  const rows = allRows<Transcript & { readonly file: string }>(sql(text), agentId, sessionId);
  return rows.length < 2 ? rows[0] : (rows.find(({ file }) => file === transcriptFile(agentId, sessionId)) ?? rows[0]);
}

function messageText(line: string, roles: readonly string[]): string {
  // Most lines do not match and need not be parsed.
  if (!roles.some((role) => line.includes(`"${role}"`))) return "";
  try {
    const { message }: { readonly message?: MessageText | null } = JSON.parse(line);
    return message && roles.includes(String(message.role)) ? shownText(message) : "";
  } catch {
    return "";
  }
}

const FIRST = "SELECT seq, line FROM transcript_entries WHERE tid = ? AND seq BETWEEN 1 AND ? AND type = 'message' ORDER BY seq";
const AT = "SELECT seq, line FROM transcript_entries WHERE tid = ? AND seq IN (SELECT value FROM json_each(?)) AND type = 'message' ORDER BY seq";

/** The owner's first message on the branch in use, as a title. */
function firstMessage(context: ReadContext, tid: number): string | undefined {
  const { sql } = context;
  const places = firstOnBranch(context, tid, LOOKED_AT);
  const rows = places ? sql(AT).iterate(tid, JSON.stringify(places)) : sql(FIRST).iterate(tid, LOOKED_AT);
  const lines = createLineReader(sql);
  for (const { seq, line } of rows) {
    const text = messageText(lines.read(tid, Number(seq), line), ["user"]);
    if (text !== "") return titleFrom(text);
  }
  return undefined;
}

const ENTRY = `SELECT parent_id AS parent, type, seq, line FROM transcript_entries INDEXED BY transcript_entries_id WHERE tid = ? AND entry_id = ?
  ORDER BY seq DESC LIMIT 1`;
const TAIL = "SELECT seq, line FROM transcript_entries WHERE tid = ? AND seq > 0 AND type = 'message' ORDER BY seq DESC LIMIT ?";

/** Lines from the newest backwards: of the branch in use, or of the file in the first format, which has no branches. */
function* newestLines({ sql }: ReadContext, { tid, leaf }: Transcript): Generator<string> {
  const lines = createLineReader(sql);
  if (leaf === null) {
    for (const { seq, line } of sql(TAIL).iterate(tid, LOOKED_AT)) yield lines.read(tid, Number(seq), line);
    return;
  }
  const find = sql(ENTRY);
  let id: unknown = leaf;
  for (let step = 0; step < LOOKED_AT && typeof id === "string"; step += 1) {
    const row = find.get(tid, id);
    if (row?.["type"] === "message") yield lines.read(tid, Number(row["seq"]), row["line"]);
    id = row?.["parent"];
  }
}

/** The last message of the user or the model. */
function lastMessage(context: ReadContext, transcript: Transcript): string | undefined {
  for (const line of newestLines(context, transcript)) {
    const text = messageText(line, ["user", "assistant"]);
    if (text !== "") return previewFrom(text);
  }
  return undefined;
}

interface Naming {
  readonly label?: string | undefined;
  readonly displayName?: string | undefined;
  readonly subject?: string | undefined;
  /** What a model called it. */
  readonly title?: string | undefined;
}

/** The preview from a session's transcript and entry, cached until either changes. */
function loadPreview(context: ReadContext, session: SessionRef, withLast: boolean, naming: () => Naming): SessionPreview {
  const transcript = liveTranscript(context, session);
  const stamp = `${session.version} ${transcript?.stamp ?? ""}`;
  const known = context.previews?.get(session.key);
  if (known?.stamp === stamp) return known;
  const { label, displayName, subject, title: given } = naming();
  const title = given ?? (transcript && firstMessage(context, transcript.tid));
  const last = transcript && (withLast || context.previews) ? lastMessage(context, transcript) : undefined;
  const name = sessionName({ key: session.key, label, displayName, subject, title });
  const parts = [name, session.key, session.sessionId, label, displayName, subject, title];
  const found = { stamp, title, last, searchText: searchable(parts.filter(Boolean).join("\n")), lastSearchText: searchable(last ?? "") };
  if (context.previews) {
    if (context.previews.size >= MAX_PREVIEWS) context.previews.clear();
    context.previews.set(session.key, found);
  }
  return found;
}

const textOrNothing = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const namingOf = ({ label, displayName, subject, title }: SessionRow["entry"]): Naming => ({
  title: textOrNothing(title),
  label: textOrNothing(label),
  displayName: textOrNothing(displayName),
  subject: textOrNothing(subject),
});

/** Messages to sessions that are not in a transcript yet: a turn writes them with its first answer. */
export function waitingTitles({ sql }: ReadContext): () => ReadonlyMap<string, string> {
  let titles: Map<string, string> | undefined;
  return () => {
    if (titles) return titles;
    titles = new Map();
    const query = "SELECT session_key AS key, substr(text, 1, 400) AS text FROM inbox WHERE state <> 'settled' AND session_key IS NOT NULL ORDER BY id LIMIT ?";
    for (const { key, text } of sql(query).iterate(MOST_WAITING)) {
      const title = titleFrom(String(text));
      if (title !== "" && !titles.has(String(key))) titles.set(String(key), title);
    }
    return titles;
  };
}

/** Sessions with their display fields. */
export function showSessions(context: ReadContext, rows: readonly SessionRow[], withLast: boolean): readonly ShownSession[] {
  const waiting = waitingTitles(context);
  return rows.map((row) => {
    const { key, agentId, version, entry } = row;
    const naming = namingOf(entry);
    const found = loadPreview(context, { key, agentId, version, sessionId: entry.sessionId }, withLast, () => naming);
    const title = found.title ?? waiting().get(key);
    return { ...row, name: sessionName({ key, ...naming, title }), title, ...(withLast && found.last !== undefined ? { last: found.last } : {}) };
  });
}

const FOUND_BY =
  "SELECT label, entry ->> '$.displayName' AS displayName, entry ->> '$.subject' AS subject, entry ->> '$.title' AS title FROM sessions WHERE key = ?";

/** Normalizes text for searching: composed letters, lower case. */
export const searchable = (text: string): string => text.normalize("NFC").toLowerCase();

/** The text that a session is found by, in lower case: its name and the like, and its last message. */
export function loadSearchText(context: ReadContext, session: SessionRef): Pick<SessionPreview, "title" | "searchText" | "lastSearchText"> {
  return loadPreview(context, session, true, () => {
    const { label, displayName, subject, title } = context.sql(FOUND_BY).get(session.key) ?? {};
    return { label: textOrNothing(label), displayName: textOrNothing(displayName), subject: textOrNothing(subject), title: textOrNothing(title) };
  });
}

/** Display names of sessions; one that does not exist is named by its key. */
export function namesOfSessions(
  context: ReadContext,
  keys: readonly string[],
  find: (key: string) => SessionRow | undefined,
): readonly { key: string; name: string }[] {
  const rows = keys.map(find).filter((row) => row !== undefined);
  const names = new Map(showSessions(context, rows, false).map(({ key, name }) => [key, name]));
  return keys.map((key) => ({ key, name: names.get(key) ?? readableKey(key) }));
}
