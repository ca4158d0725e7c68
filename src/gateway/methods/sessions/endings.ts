import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import type { MethodParams, MethodResult, SessionEntry } from "../../../protocol/index.ts";
import { entryAfterReset, newestRows } from "../../../sessions/index.ts";
import { UNDO_MS, type SessionRow, type Store, type TranscriptRow, type Write } from "../../../store/index.ts";
import type { AgentPort, Responder } from "../../ports.ts";
import type { RunRelay } from "../../runs/relay.ts";
import type { EndingSession, MethodDeps } from "../deps.ts";
import { agentOf, canonicalKey, checkAgent, keySettings, mainSessionKey } from "./keys.ts";
import { headerLine, liveTranscripts, messageOfRow } from "./transcripts.ts";
import { inTurn, type SessionTurns } from "./turns.ts";

export interface EndingDeps extends MethodDeps, SessionTurns {
  readonly responder: Responder;
  readonly relay: Pick<RunRelay, "stopping">;
  /** Sums a session up with a model; without it lines are cut. */
  readonly compact?: AgentPort["compact"];
}

const STOP_WAIT_MS = 15_000;

/** Stops what runs in a session and resolves when it has ended. */
export async function settle(key: string, shownKey: string, { responder, relay, clock }: Pick<EndingDeps, "responder" | "relay" | "clock">): Promise<void> {
  const reached = responder.abort({ sessionKey: key }, "rpc");
  for (const runId of reached) relay.stopping(runId, "rpc");
  if (reached.length === 0) return;
  const { promise, reject } = Promise.withResolvers<never>();
  const late = (): void => reject(new AppError("UNAVAILABLE", `Session ${shownKey} is still active; try again in a moment.`));
  using _timer = clock.after(STOP_WAIT_MS, late);
  await Promise.race([Promise.all(reached.map((runId) => responder.outcome(runId))), promise]);
}

/** The same where a method ends the session. */
async function stopFor(how: "reset" | "deleted", key: string, shownKey: string, deps: EndingDeps): Promise<void> {
  await deps.endings?.stopping?.(key, how);
  await settle(key, shownKey, deps);
}

const archiving = (files: readonly TranscriptRow[], reason: "reset" | "deleted"): Write[] => files.map(({ file }) => ["transcripts.archive", { file, reason }]);

async function endingOf(store: Store, session: SessionRow, reason: EndingSession["reason"]): Promise<EndingSession> {
  const [transcript] = await liveTranscripts(store, session);
  const { key, agentId, entry } = session;
  return { key, agentId, sessionId: entry.sessionId, reason, ...(transcript ? { file: transcript.file } : {}) };
}

/** Resets a session: it gets a new id, and its transcript is archived. */
export async function resetSession(params: MethodParams<"sessions.reset">, deps: EndingDeps): Promise<MethodResult<"sessions.reset">> {
  const key = canonicalKey(params.key, deps.config.current);
  const still = (): Promise<void> => stopFor("reset", key, params.key, deps);
  const entry = await inTurn(key, params.key, deps, () => resetNow(key, params.reason ?? "reset", deps), still);
  return { ok: true, key, entry };
}

async function resetNow(key: string, reason: "new" | "reset", { config, store, clock, ids, endings }: EndingDeps): Promise<SessionEntry> {
  const session = await store.read("sessions.get", { key });
  checkAgent(key, session, config.current);
  const fresh = { sessionId: ids.uuid(), now: clock.now() };
  const ending = session && (await endingOf(store, session, reason));
  if (ending) await endings?.ending(ending);
  const entry = entryAfterReset(session?.entry ?? { sessionId: fresh.sessionId, updatedAt: fresh.now }, "explicit", fresh);
  await store.commit([
    ...archiving(session ? await liveTranscripts(store, session) : [], "reset"),
    ["extensions.clear", { sessionKey: key, keepUnheard: true }],
    ["sessions.put", { key, agentId: session?.agentId ?? agentOf(key, config.current), entry, version: session?.version ?? 0 }],
  ]);
  if (ending) endings?.ended(ending, entry);
  return entry;
}

/** `isUndoable`: it can be brought back for a while. */
export async function deleteSession(params: MethodParams<"sessions.delete">, deps: EndingDeps, isUndoable: boolean): Promise<MethodResult<"sessions.delete">> {
  const { current } = deps.config;
  const key = canonicalKey(params.key, current);
  if (key === mainSessionKey(keySettings(current))) throw new AppError("INVALID_INPUT", `Cannot delete the main session (${key}).`);
  const still = (): Promise<void> => stopFor("deleted", key, params.key, deps);
  const how = { withTranscript: params.deleteTranscript !== false, isUndoable };
  const gone = await inTurn(key, params.key, deps, () => removed(key, how, deps), still);
  return { ok: true, key, deleted: gone !== undefined, archived: gone?.archived ?? [], ...(gone?.undo === undefined ? {} : { undo: gone.undo }) };
}

/** Undoes a deletion. */
export async function restoreSession({ undo }: MethodParams<"sessions.restore">, deps: EndingDeps): Promise<MethodResult<"sessions.restore">> {
  const { store, clock } = deps;
  const gone = await store.read("trash.get", { id: undo });
  if (!gone || clock.now() - gone.deletedAt > UNDO_MS)
    throw new AppError("NOT_FOUND", "this deletion can no longer be undone: it was already undone, or it has expired", { details: { reason: "gone" } });
  const { key, agentId, extensions } = gone;
  return inTurn(key, key, deps, async () => {
    if (await store.read("sessions.get", { key })) {
      throw new AppError("INVALID_INPUT", `${key} is in use again, so the deleted session cannot be restored. Delete or rename the new conversation first`, {
        details: { key, reason: "in-use" },
      });
    }
    const rows = await store.read("transcripts.ofSession", { agentId, sessionId: gone.entry.sessionId });
    // A label means one session; another one may have got it since.
    const { label, ...unlabelled } = gone.entry;
    const isTaken = label !== undefined && (await store.read("sessions.byLabel", { label })).length > 0;
    const entry: SessionEntry = isTaken ? unlabelled : gone.entry;
    const archived = rows.filter(({ file, archivedAt }) => archivedAt !== null && file.includes(".deleted.") && archivedAt >= gone.deletedAt);
    await store.commit([
      ["trash.take", { id: undo }],
      ...archived.map(({ file }): Write => ["transcripts.restore", { file }]),
      ["sessions.put", { key, agentId, entry, version: 0 }],
      ...extensions.map((one): Write => ["extensions.set", { sessionKey: key, ...one }]),
    ]);
    return { ok: true, key, entry };
  });
}

/** What has to be stored of a session that goes, so that it can come back. */
async function trashed(id: string, { key, agentId, entry }: SessionRow, store: Store): Promise<Write> {
  const extensions = (await store.read("extensions.get", { sessionKey: key })).map(({ pluginId, namespace, value }) => ({ pluginId, namespace, value }));
  return ["trash.put", { id, key, agentId, entry, extensions }];
}

/** The names of the files that were put away, and what undoes it; undefined when there was no session. */
async function removed(
  key: string,
  { withTranscript, isUndoable }: { readonly withTranscript: boolean; readonly isUndoable: boolean },
  { config, store, ids, endings }: EndingDeps,
): Promise<{ readonly archived: readonly string[]; readonly undo: string | undefined } | undefined> {
  const session = await store.read("sessions.get", { key });
  checkAgent(key, session, config.current);
  if (!session) return undefined;
  const ending = await endingOf(store, session, "deleted");
  const files = withTranscript ? await liveTranscripts(store, session) : [];
  // An archived transcript has only a compressed file, which is renamed with it.
  const isThere = (name: string): boolean => existsSync(join(config.paths.state, name));
  const endOf = files.map(({ file }) => (!isThere(file) && isThere(`${file}.gz`) ? ".gz" : ""));
  const undo = isUndoable ? ids.uuid() : undefined;
  const results = await store.commit([
    ...archiving(files, "deleted"),
    ...(undo === undefined ? [] : [await trashed(undo, session, store)]),
    ["extensions.clear", { sessionKey: key }],
    ["sessions.delete", { key, version: session.version }],
  ]);
  endings?.ended(ending);
  return { archived: endOf.map((end, at) => join(config.paths.state, `${(results[at] as { file: string }).file}${end}`)), undo };
}

/** Sums a session up, or keeps the newest entries of the branch in use and puts the whole transcript away. */
export async function compactSession(
  params: MethodParams<"sessions.compact">,
  deps: EndingDeps,
  signal: AbortSignal,
): Promise<MethodResult<"sessions.compact">> {
  const key = canonicalKey(params.key, deps.config.current);
  if (deps.compact && params.maxLines === undefined) {
    const session = await deps.store.read("sessions.get", { key });
    checkAgent(key, session, deps.config.current);
    if (!session) return { ok: true, key, compacted: false, reason: "no session" };
    const instructions = params.instructions?.trim();
    const { compacted, reason, tokensBefore, tokensAfter } = await deps.compact({ sessionKey: key, signal, ...(instructions ? { instructions } : {}) });
    return {
      ok: true,
      key,
      compacted,
      ...(reason === undefined ? {} : { reason }),
      ...(tokensBefore === undefined ? {} : { tokensBefore }),
      ...(tokensAfter === undefined ? {} : { tokensAfter }),
    };
  }
  return inTurn(key, params.key, deps, () => shortened(key, params.maxLines ?? 400, deps));
}

/** The line of an entry that becomes the first one. */
function withoutParent(line: string): string {
  const entry: unknown = JSON.parse(line);
  return JSON.stringify(isRecord(entry) ? { ...entry, parentId: null } : entry);
}

async function shortened(key: string, maxLines: number, { config, store, clock }: EndingDeps): Promise<MethodResult<"sessions.compact">> {
  const session = await store.read("sessions.get", { key });
  checkAgent(key, session, config.current);
  if (!session) return { ok: true, key, compacted: false, reason: "no session" };
  const [transcript] = await liveTranscripts(store, session);
  if (!transcript) return { ok: true, key, compacted: false, reason: "no transcript" };
  // The header is no line of the conversation: what was compacted once is not compacted again.
  if (transcript.lines <= maxLines + 1) return { ok: true, key, compacted: false, kept: transcript.lines };
  const newest = (await Array.fromAsync(newestRows(store, transcript.file, maxLines))).reverse();
  // A tool's result without its call would mean nothing to a model.
  const from = newest.findIndex((row) => messageOfRow(row)?.role !== "toolResult");
  const kept = from < 0 ? [] : newest.slice(from);
  const entries = kept.map(({ id, parentId, type, line }, index) => ({
    ...(id === null ? {} : { id }),
    parentId: index === 0 ? null : parentId,
    type,
    line: index === 0 ? withoutParent(line) : line,
  }));
  const { file } = transcript;
  const { sessionId } = session.entry;
  const fields = { inputTokens: null, outputTokens: null, totalTokens: null, totalTokensFresh: false, updatedAt: clock.now() };
  const [archived] = await store.commit([
    ["transcripts.archive", { file, reason: "reset" }],
    ["transcripts.ensure", { file, agentId: session.agentId, sessionId, header: headerLine(sessionId, clock.now()) }],
    ["transcripts.append", { file, entries }],
    // Only over what was read: a run that ended meanwhile would lose its answer.
    ["sessions.patch", { key, patch: fields, version: session.version }],
  ]);
  return { ok: true, key, compacted: true, kept: kept.length, archived: join(config.paths.state, archived.file) };
}
