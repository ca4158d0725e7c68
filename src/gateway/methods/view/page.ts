import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import type { ChatEntry, MethodParams, MethodResult, PendingMessage } from "../../../protocol/index.ts";
import { reasoningLevel } from "../../../sessions/index.ts";
import type { EntryRow, SessionRow, Store, TranscriptRow, UntranscribedRow } from "../../../store/index.ts";
import type { RunRelay } from "../../runs/relay.ts";
import type { MethodDeps } from "../deps.ts";
import { findSession } from "../sessions/keys.ts";
import { liveTranscripts, messageOfRow, rowAt } from "../sessions/transcripts.ts";
import { askedCommands, type RunningPort } from "./asked-commands.ts";
import { isOwnKind } from "./system-lines.ts";
import { MAX_TEXT, shownEntry, withRuns } from "./shown-entry.ts";
import { openStretch, type Stretch } from "./stretch.ts";

export interface PageDeps extends Pick<MethodDeps, "config" | "store"> {
  readonly relay: Pick<RunRelay, "shown">;
  readonly running?: RunningPort | undefined;
}

type Page = MethodResult<"chat.page">;

const DEFAULT_LIMIT = 60;
/** Messages that wait in one session and are shown. */
const MOST_PENDING = 200;
/** Bytes of one answer, roughly: for what does not fit `more` is set. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Inputs that nobody wrote. */
const SILENT_KINDS: ReadonlySet<string> = new Set(["reaction", "member", "notice", "edit", "regenerate"]);

/** Messages of a session that were accepted and are not in its transcript. */
export async function waiting(store: Pick<Store, "read">, sessionKey: string): Promise<readonly UntranscribedRow[]> {
  const rows = await store.read("inbox.untranscribed", { sessionKey, chars: MAX_TEXT, limit: MOST_PENDING });
  return rows.filter(({ kind, text, files }) => !SILENT_KINDS.has(kind) && !isOwnKind(kind) && (text !== "" || files > 0));
}

function pendingOf({ id, channel, messageId, text, files, sender, senderName, via, turnId, receivedAt }: UntranscribedRow): PendingMessage {
  const own = channel === "gateway";
  const place = own ? (via === "webchat" ? null : via) : channel;
  const from = own ? null : (senderName ?? sender);
  return {
    // Before its turn has begun, `why` knows a channel's message by its row.
    runId: own ? messageId : (turnId ?? `in:${id}`),
    ts: receivedAt,
    text,
    images: files,
    ...(from ? { from } : {}),
    ...(place ? { channel: place } : {}),
  };
}

/** Entries of a stretch up to `last` until there are enough of them, oldest first, and whether there are more. What is appended meanwhile is for the next page. */
async function gather(
  stretch: Stretch,
  first: readonly EntryRow[],
  { limit, last }: { readonly limit: number; readonly last: number },
): Promise<{ readonly entries: readonly ChatEntry[]; readonly more: boolean }> {
  const found: ChatEntry[] = [];
  const older = stretch.direction === "older";
  let bytes = 0;
  for (let rows = first; rows.length > 0; rows = await stretch.next(limit + 8)) {
    for (const row of older ? [...rows].reverse() : rows) {
      const entry = row.seq > last ? undefined : shownEntry(row);
      if (!entry) continue;
      bytes += JSON.stringify(entry).length;
      if (found.length === limit || (found.length > 0 && bytes > MAX_BYTES)) return { entries: older ? found.reverse() : found, more: true };
      found.push(entry);
    }
  }
  return { entries: older ? found.reverse() : found, more: false };
}

async function linked(store: Pick<Store, "read">, sessionKey: string, entries: readonly ChatEntry[]): Promise<ChatEntry[]> {
  const times = entries.map(({ ts }) => ts).filter((ts) => ts > 0);
  if (times.length === 0) return [...entries];
  const from = times.reduce((a, b) => Math.min(a, b));
  const until = times.reduce((a, b) => Math.max(a, b));
  const spans = await store.read("turns.spans", { sessionKey, from, until, limit: 2 * entries.length + 20 });
  return withRuns(entries, [...spans].reverse());
}

/** Messages and answers with how many versions there are of each. */
async function withSiblings(store: Pick<Store, "read">, { file, fork }: TranscriptRow, entries: ChatEntry[]): Promise<ChatEntry[]> {
  const seqs = entries.flatMap(({ kind, seq }) => (kind === "user" || kind === "assistant" ? [seq] : []));
  if (fork === 0 || seqs.length === 0) return entries;
  const found = new Map((await store.read("transcripts.siblings", { file, seqs })).map(({ seq, siblings }) => [seq, siblings]));
  return entries.map((entry) => {
    const alike = found.get(entry.seq)?.filter(({ role }) => role === entry.kind) ?? [];
    const at = alike.findIndex(({ seq }) => seq === entry.seq);
    if (alike.length < 2 || at < 0) return entry;
    const [previous, next] = [alike[at - 1], alike[at + 1]];
    return {
      ...entry,
      siblings: { at: at + 1, of: alike.length, ...(previous ? { previous: previous.id } : {}), ...(next ? { next: next.id } : {}) },
    };
  });
}

/** What follows the end of the branch in use on other ones, such as the former answer when the new one never came. */
async function othersBelow(store: Pick<Store, "read">, { file, fork, leafId }: TranscriptRow): Promise<Pick<Page, "others">> {
  if (fork === 0) return {};
  const path = leafId === null ? [] : await store.read("transcripts.path", { file, from: leafId, limit: MOST_NOTES });
  const last = path.findLast((row) => shownEntry(row)?.kind === "user");
  if (!last || path.slice(path.indexOf(last) + 1).some((row) => row.type !== "custom")) return {};
  const others = await store.read("transcripts.following", { file, id: last.id });
  return others.length === 0 ? {} : { others: others.slice(-10).map(({ id }) => id) };
}

/** Reasoning that is being written is shown where the session shows it afterwards, too. */
export const showsReasoning = (session: Pick<SessionRow, "entry"> | undefined): boolean => reasoningLevel(session?.entry).value !== "off";

/** Which transcript the positions belong to, and its last one. */
export function standing(session: SessionRow | undefined, row: TranscriptRow | undefined): Pick<Page, "sessionId" | "began" | "fork" | "last"> {
  const fork = row && row.fork > 0 ? { fork: row.fork } : {};
  return { ...(session ? { sessionId: session.entry.sessionId } : {}), ...(row ? { began: row.createdAt } : {}), ...fork, last: row ? row.lines - 1 : 0 };
}

/** Bookkeeping that may stand behind the last message. */
const MOST_NOTES = 10;
/** How often a page is read again because its session was reset in between. */
const MAX_RETRIES = 5;

export async function chatPage(params: MethodParams<"chat.page">, { config, store, relay, running }: PageDeps): Promise<Page> {
  const { before, after, limit = DEFAULT_LIMIT } = params;
  if (before !== undefined && after !== undefined) throw new AppError("INVALID_INPUT", "set before or after, not both");
  for (let attempt = 0; ; attempt += 1) {
    const { key, session } = await findSession(params.sessionKey, { config, store });
    const [known] = session ? await liveTranscripts(store, session) : [];
    const stretch = known && openStretch(store, known, { before, after });
    // In one message to the store: what is in the transcript does not wait, and what waits is not in it.
    const [unsaid, now, row, rows] = await Promise.all([
      waiting(store, key),
      store.read("sessions.get", { key }),
      known && store.read("transcripts.get", { file: known.file }),
      stretch?.next(limit + 8) ?? [],
    ]);
    const runs = [...relay.shown(key, showsReasoning(session))];
    const same = now?.entry.sessionId === session?.entry.sessionId && row?.createdAt === known?.createdAt;
    if (!same && attempt < MAX_RETRIES) continue;
    const stands = standing(session, row);
    const { entries, more } = stretch ? await gather(stretch, rows, { limit, last: stands.last }) : { entries: [], more: false };
    const commands = await askedCommands(store, { sessionKey: key, entries, named: params.commands ?? [] }, running);
    return {
      sessionKey: key,
      ...stands,
      entries: row ? await withSiblings(store, row, await linked(store, key, entries)) : [],
      more,
      ...(row && runs.length + unsaid.length === 0 ? await othersBelow(store, row) : {}),
      pending: unsaid.map(pendingOf),
      runs,
      ...(commands.length === 0 ? {} : { commands }),
    };
  }
}

export async function chatImage({ sessionKey, seq, index }: MethodParams<"chat.image">, deps: PageDeps): Promise<MethodResult<"chat.image">> {
  const { row } = await rowAt({ sessionKey, seq }, deps);
  const content = row && messageOfRow(row)?.content;
  const block: unknown = Array.isArray(content) ? content[index] : undefined;
  const { type, data, mimeType } = isRecord(block) ? block : {};
  if (type !== "image" || typeof data !== "string" || typeof mimeType !== "string" || data === "" || mimeType === "") {
    throw new AppError("INVALID_INPUT", `no image at block ${index} of entry ${seq}; use values from chat.page`);
  }
  return { mimeType, data };
}
