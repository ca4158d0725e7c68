/** Branches of a conversation: other versions of a message, other answers to it, and which of them is in use. */
import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { branchEntry, CUSTOM } from "../../../sessions/index.ts";
import type { EntryRow, SessionRow, Store, TranscriptRow, Write } from "../../../store/index.ts";
import type { RunRelay } from "../../runs/relay.ts";
import type { MethodDeps } from "../deps.ts";
import { findSession } from "../sessions/keys.ts";
import { entryOf, liveTranscripts, messageOfRow, shownText } from "../sessions/transcripts.ts";

export interface BranchDeps extends MethodDeps {
  readonly relay: Pick<RunRelay, "active">;
  /** Does something in a session while no turn of it runs. */
  exclusively<T>(sessionKey: string, work: () => Promise<T>): Promise<T>;
}

/** Why a conversation is not branched; `details.reason` of the error. */
type Reason = "run-active" | "not-in-session" | "not-on-branch" | "compacted" | "not-a-message";

function refusal(reason: Reason, message: string, entryId?: string): AppError {
  const code = reason === "run-active" ? "CONFLICT" : reason === "not-in-session" ? "NOT_FOUND" : "INVALID_INPUT";
  const again = reason === "run-active" ? { retryable: true } : {};
  return new AppError(code, message, { details: { reason, ...(entryId === undefined ? {} : { entryId }), ...again } });
}

/** A session and the transcript that is in use. */
interface Opened {
  readonly key: string;
  readonly session: SessionRow;
  readonly transcript: TranscriptRow;
}

async function open(sessionKey: string, entryId: string, deps: Pick<MethodDeps, "config" | "store">): Promise<Opened> {
  const { key, session } = await findSession(sessionKey, deps);
  const [transcript] = session ? await liveTranscripts(deps.store, session) : [];
  if (!session || !transcript) throw notThere(entryId, key);
  return { key, session, transcript };
}

const notThere = (entryId: string, key: string): AppError =>
  refusal("not-in-session", `there is no entry ${entryId} in ${key}; it may have been reset since. Load the conversation again`, entryId);

const isActive = (): AppError => refusal("run-active", "a run of this session is active; wait for it to finish or stop it, then try again");

async function refuseWhileBusy(sessionKey: string, { relay, store }: Pick<BranchDeps, "relay" | "store">): Promise<void> {
  const waiting = await store.read("inbox.untranscribed", { sessionKey, chars: 1, limit: 1 });
  if (relay.active(sessionKey).length + waiting.length > 0) throw isActive();
}

/** For the upkeep after a run. One that begins in between is not waited for: a stop waits for requests that are being accepted. */
const MOST_WAIT_MS = 1000;

/**
 * Does something with a session that is quiet, and stays so until it is done. `known` gives the answer of a request that came before; then nothing else
 * is done.
 */
async function whileQuiet<T>(sessionKey: string, deps: BranchDeps, work: () => Promise<T>, known?: () => Promise<T | undefined>): Promise<T> {
  const before = await known?.();
  if (before !== undefined) return before;
  await refuseWhileBusy(sessionKey, deps);
  const late = Promise.withResolvers<never>();
  let state: "waiting" | "begun" | "given-up" = "waiting";
  using _timer = deps.clock.after(MOST_WAIT_MS, () => {
    if (state !== "waiting") return;
    state = "given-up";
    late.reject(isActive());
  });
  const done = deps.exclusively(sessionKey, async () => {
    if (state === "given-up") throw isActive();
    state = "begun";
    const twin = await known?.();
    if (twin !== undefined) return twin;
    await refuseWhileBusy(sessionKey, deps);
    return work();
  });
  return await Promise.race([done, late.promise]);
}

/** A run that begins on a branch of its own. */
interface BranchRun<T> {
  readonly runId: string;
  readonly sessionKey: string;
  /** Begins it while the session is quiet. */
  begin(): Promise<T>;
  /** The same request came before, with this message: it is no second branch. */
  repeat(message: string): Promise<T>;
}

export function runInBranch<T>({ runId, sessionKey, begin, repeat }: BranchRun<T>, deps: BranchDeps): Promise<T> {
  return whileQuiet(sessionKey, deps, begin, async () => {
    const rows = await deps.store.read("inbox.find", { messageId: runId });
    const text = rows.find(({ channel }) => channel === "gateway")?.text;
    return text === undefined ? undefined : repeat(text);
  });
}

const PART = 500;

const keptBy = (row: EntryRow): string | undefined => {
  const kept = row.type === "compaction" ? entryOf(row)?.["firstKeptEntryId"] : undefined;
  return typeof kept === "string" ? kept : undefined;
};

/** The way from an entry up to a message of the user, nearest last. Refuses an entry that is not in use, or that a compaction has summed up. */
async function wayFrom(store: Pick<Store, "read">, { key, transcript }: Opened, entryId: string): Promise<readonly EntryRow[]> {
  const { file } = transcript;
  if (!(await store.read("transcripts.entry", { file, id: entryId }))) throw notThere(entryId, key);
  const way: EntryRow[] = [];
  let [from, isFound, kept, isSummed]: [string | null, boolean, string | undefined, boolean] = [transcript.leafId, false, undefined, false];
  while (from !== null) {
    const rows: readonly EntryRow[] = await store.read("transcripts.path", { file, from, limit: PART });
    for (const row of rows.toReversed()) {
      isFound ||= row.id === entryId;
      if (isFound && isSummed) throw refusal("compacted", "this message is part of the summarised history; it can no longer be changed", entryId);
      if (isFound) way.push(row);
      if (isFound && roleOf(row) === "user") return way;
      kept ??= keptBy(row);
      isSummed ||= kept !== undefined && row.id === kept;
    }
    from = rows.length < PART ? null : (rows[0]?.parentId ?? null);
  }
  if (isFound) return way;
  throw refusal("not-on-branch", `entry ${entryId} is on another branch; switch to it with chat.branch first`, entryId);
}

const roleOf = (row: EntryRow): unknown => messageOfRow(row)?.role;

/** The writes that make the conversation go on below an entry. They are refused when it has gone on elsewhere. */
function branchWrites(
  { transcript }: Pick<Opened, "transcript">,
  parentId: string | null,
  { clock, ids }: Pick<MethodDeps, "clock" | "ids">,
  runId?: string,
): Write[] {
  const entry = branchEntry({ ids, parentId, at: clock.now() }, runId);
  return [["transcripts.append", { file: transcript.file, entries: [entry], expectLeaf: transcript.leafId }]];
}

/** The writes for a run on a branch. The session counts as used: a conversation of yesterday goes on where the user went back to, and is not reset. */
function runWrites(opened: Opened, parentId: string | null, deps: Pick<MethodDeps, "clock" | "ids">, runId: string): Write[] {
  return [...branchWrites(opened, parentId, deps, runId), ["sessions.merge", { key: opened.key, patch: { updatedAt: deps.clock.now() } }]];
}

/** Where a changed message hangs: below what came before the message that it replaces. */
export async function editing(
  sessionKey: string,
  entryId: string,
  deps: Pick<MethodDeps, "config" | "store" | "clock" | "ids">,
  runId: string,
): Promise<Write[]> {
  const opened = await open(sessionKey, entryId, deps);
  const [own] = await wayFrom(deps.store, opened, entryId);
  if (!own || roleOf(own) !== "user") throw refusal("not-a-message", `entry ${entryId} is not a user message; only user messages can be edited`, entryId);
  return runWrites(opened, own.parentId, deps, runId);
}

/** The message that an answer belongs to, and the writes that make it the end of the conversation. */
export async function answeringAgain(
  sessionKey: string,
  entryId: string,
  deps: Pick<MethodDeps, "config" | "store" | "clock" | "ids">,
  runId: string,
): Promise<{ readonly message: string; readonly writes: Write[] }> {
  const opened = await open(sessionKey, entryId, deps);
  const asked = (await wayFrom(deps.store, opened, entryId)).at(-1);
  const message = asked && messageOfRow(asked);
  if (!asked || message?.role !== "user")
    throw refusal("not-a-message", `entry ${entryId} does not answer a user message; there is nothing to answer again`, entryId);
  return { message: shownText(message), writes: runWrites(opened, asked.id, deps, runId) };
}

/** The entry that a branch goes on from: what marks a switch is no part of the conversation. */
async function leafBelow(store: Pick<Store, "read">, file: string, id: string): Promise<string | undefined> {
  let row = await store.read("transcripts.newestBelow", { file, id });
  while (row && row.id !== id && row.parentId !== null && entryOf(row)?.["customType"] === CUSTOM.branch) {
    row = await store.read("transcripts.entry", { file, id: row.parentId });
  }
  return row?.id ?? undefined;
}

/** Switches to the newest branch that an entry is on. */
export async function switchBranch({ sessionKey, entryId }: MethodParams<"chat.branch">, deps: BranchDeps): Promise<MethodResult<"chat.branch">> {
  const { store } = deps;
  const { key } = await findSession(sessionKey, deps);
  return whileQuiet(key, deps, async () => {
    const opened = await open(key, entryId, deps);
    const { file } = opened.transcript;
    const row = await store.read("transcripts.entry", { file, id: entryId });
    const leaf = row && (await leafBelow(store, file, entryId));
    if (!row || leaf === undefined) throw notThere(entryId, key);
    const [isUsed] = await store.read("transcripts.onBranch", { file, seqs: [row.seq] });
    if (isUsed) return { ok: true, sessionKey: key, changed: false };
    const { totalTokens } = opened.session.entry;
    // How full the context is, the next run will tell.
    const stale: Write[] = totalTokens === undefined ? [] : [["sessions.merge", { key, patch: { totalTokensFresh: false } }]];
    await store.commit([...branchWrites(opened, leaf, deps), ...stale]);
    return { ok: true, sessionKey: key, changed: true };
  });
}

type Listed = MethodResult<"chat.branches">["branches"][number];

/** Characters of a version that are listed. */
const MAX_TEXT = 12_000;
/** Entries of an answer that are read, in all and at once, and versions that are listed. */
const MOST_ENTRIES = 500;
const ENTRIES_AT_ONCE = 50;
const MOST_BRANCHES = 50;

/** The entries of an answer, from its first one: those that follow one another, up to the next message of the user. */
async function answerFrom(store: Pick<Store, "read">, file: string, first: EntryRow): Promise<readonly EntryRow[]> {
  const own = [first];
  for (let after = first.seq; own.length < MOST_ENTRIES;) {
    const rows = await store.read("transcripts.page", { file, after, limit: ENTRIES_AT_ONCE });
    const before = own.length;
    for (const row of rows) {
      if (row.id === null || row.parentId !== own.at(-1)?.id) continue;
      if (roleOf(row) === "user") return own;
      own.push(row);
    }
    if (rows.length < ENTRIES_AT_ONCE || own.length === before) return own;
    after = rows.at(-1)?.seq ?? after;
  }
  return own;
}

/** All that an answer says; of a message its text. */
async function listed(store: Pick<Store, "read">, file: string, id: string, isUsed: boolean): Promise<Listed | undefined> {
  const first = await store.read("transcripts.entry", { file, id });
  const message = first && messageOfRow(first);
  if (!first || (message?.role !== "user" && message?.role !== "assistant")) return undefined;
  const own = message.role === "user" ? [first] : await answerFrom(store, file, first);
  const texts = own.flatMap((row) => (roleOf(row) === message.role ? [shownText(messageOfRow(row)!)] : [])).filter((text) => text !== "");
  const text = texts.join("\n\n");
  const at = Date.parse(String(entryOf(first)?.timestamp));
  const model = isRecord(message) && typeof message["model"] === "string" ? { model: message["model"] } : {};
  return {
    id,
    seq: first.seq,
    ts: Number.isNaN(at) ? 0 : at,
    kind: message.role,
    text: text.slice(0, MAX_TEXT),
    shown: isUsed,
    ...model,
    ...(text.length > MAX_TEXT ? { cut: true } : {}),
  };
}

/** The versions of a message, or the answers to one. */
export async function listBranches(
  { sessionKey, entryId }: MethodParams<"chat.branches">,
  deps: Pick<MethodDeps, "config" | "store">,
): Promise<MethodResult<"chat.branches">> {
  const { store } = deps;
  const { key, transcript } = await open(sessionKey, entryId, deps);
  const { file } = transcript;
  const row = await store.read("transcripts.entry", { file, id: entryId });
  if (!row) throw notThere(entryId, key);
  const [found] = await store.read("transcripts.siblings", { file, seqs: [row.seq] });
  const role = roleOf(row);
  const alike = (found?.siblings ?? [{ seq: row.seq, id: entryId, role }]).filter((one) => one.role === role).slice(-MOST_BRANCHES);
  const used = await store.read("transcripts.onBranch", { file, seqs: alike.map(({ seq }) => seq) });
  const branches = await Promise.all(alike.map(({ id }, at) => listed(store, file, id, used[at] === true)));
  return { sessionKey: key, branches: branches.filter((one) => one !== undefined) };
}
