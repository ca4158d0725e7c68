import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import type { MethodParams, MethodResult, SessionEntry } from "../../../protocol/index.ts";
import { entryAfterReset } from "../../../sessions/index.ts";
import type { SessionRow, Store, TranscriptRow, Write } from "../../../store/index.ts";
import type { AgentPort, Responder } from "../../ports.ts";
import type { RunRelay } from "../../runs/relay.ts";
import type { EndingSession, MethodDeps } from "../deps.ts";
import { agentOf, canonicalKey, checkAgent, keySettings, mainSessionKey } from "./keys.ts";
import { headerLine, liveTranscripts, messageOfRow, newestEntries } from "./transcripts.ts";
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

const archiving = (files: readonly TranscriptRow[], reason: "reset" | "deleted"): Write[] => files.map(({ file }) => ["transcripts.archive", { file, reason }]);

async function endingOf(store: Store, session: SessionRow, reason: EndingSession["reason"]): Promise<EndingSession> {
  const [transcript] = await liveTranscripts(store, session);
  const { key, agentId, entry } = session;
  return { key, agentId, sessionId: entry.sessionId, reason, ...(transcript ? { file: transcript.file } : {}) };
}

/** Resets a session: it gets a new id, and its transcript is archived. */
export async function resetSession(params: MethodParams<"sessions.reset">, deps: EndingDeps): Promise<MethodResult<"sessions.reset">> {
  const key = canonicalKey(params.key, deps.config.current);
  const still = (): Promise<void> => settle(key, params.key, deps);
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
    ["extensions.clear", { sessionKey: key }],
    ["sessions.put", { key, agentId: session?.agentId ?? agentOf(key, config.current), entry, version: session?.version ?? 0 }],
  ]);
  if (ending) endings?.ended(ending, entry);
  return entry;
}

export async function deleteSession(params: MethodParams<"sessions.delete">, deps: EndingDeps): Promise<MethodResult<"sessions.delete">> {
  const { current } = deps.config;
  const key = canonicalKey(params.key, current);
  if (key === mainSessionKey(keySettings(current))) throw new AppError("INVALID_INPUT", `Cannot delete the main session (${key}).`);
  const still = (): Promise<void> => settle(key, params.key, deps);
  const archived = await inTurn(key, params.key, deps, () => removed(key, params.deleteTranscript !== false, deps), still);
  return { ok: true, key, deleted: archived !== undefined, archived: archived ?? [] };
}

/** The names of the files that were put away; undefined when there was no session. */
async function removed(key: string, withTranscript: boolean, { config, store, endings }: EndingDeps): Promise<readonly string[] | undefined> {
  const session = await store.read("sessions.get", { key });
  checkAgent(key, session, config.current);
  if (!session) return undefined;
  const ending = await endingOf(store, session, "deleted");
  const files = withTranscript ? await liveTranscripts(store, session) : [];
  // An archived transcript has only a compressed file, which is renamed with it.
  const isThere = (name: string): boolean => existsSync(join(config.paths.state, name));
  const endOf = files.map(({ file }) => (!isThere(file) && isThere(`${file}.gz`) ? ".gz" : ""));
  const results = await store.commit([
    ...archiving(files, "deleted"),
    ["extensions.clear", { sessionKey: key }],
    ["sessions.delete", { key, version: session.version }],
  ]);
  endings?.ended(ending);
  return endOf.map((end, at) => join(config.paths.state, `${(results[at] as { file: string }).file}${end}`));
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
  const newest = await newestEntries(store, transcript.file, maxLines);
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
