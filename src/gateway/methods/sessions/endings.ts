import { join } from "node:path";
import { AppError } from "../../../base/errors.ts";
import type { MethodParams, MethodResult, SessionEntry } from "../../../protocol/index.ts";
import { type SessionRow, type Store, type Write } from "../../../store/index.ts";
import type { Responder } from "../../ports.ts";
import type { RunRelay } from "../chat/run-relay.ts";
import type { MethodDeps } from "../deps.ts";
import { agentOf, canonicalKey, keySettings, mainSessionKey } from "./keys.ts";
import { headerLine, liveTranscripts, messageOfRow, newestEntries } from "./transcripts.ts";

export interface EndingDeps extends MethodDeps {
  readonly responder: Responder;
  readonly relay: Pick<RunRelay, "stopping">;
}

const STOP_WAIT_MS = 15_000;
const MAX_RETRIES = 3;

/** Fields that a session keeps when it begins anew. */
const KEPT = [
  "thinkingLevel",
  "verboseLevel",
  "reasoningLevel",
  "elevatedLevel",
  "ttsAuto",
  "execHost",
  "execSecurity",
  "execAsk",
  "execNode",
  "groupActivation",
  "responseUsage",
  "sendPolicy",
  "model",
  "modelProvider",
  "contextTokens",
  "authProfileOverride",
  "authProfileOverrideSource",
  "label",
  "displayName",
  "spawnedBy",
  "spawnDepth",
  "cliSessionIds",
  "chatType",
  "channel",
  "groupId",
  "subject",
  "groupChannel",
  "space",
  "origin",
  "deliveryContext",
  "lastChannel",
  "lastTo",
  "lastAccountId",
  "lastThreadId",
] as const;

/** Stops what runs in a session and resolves when it has ended. */
async function settle(key: string, shownKey: string, { responder, relay, clock }: EndingDeps): Promise<void> {
  const reached = responder.abort({ sessionKey: key }, "rpc");
  for (const runId of reached) relay.stopping(runId, "rpc");
  if (reached.length === 0) return;
  const { promise, reject } = Promise.withResolvers<never>();
  const late = (): void => reject(new AppError("UNAVAILABLE", `Session ${shownKey} is still active; try again in a moment.`));
  using _timer = clock.after(STOP_WAIT_MS, late);
  await Promise.race([Promise.all(reached.map((runId) => responder.outcome(runId))), promise]);
}

async function archiving(store: Store, session: SessionRow | undefined, reason: "reset" | "deleted"): Promise<Write[]> {
  const files = session ? await liveTranscripts(store, session) : [];
  return files.map(({ file }) => ["transcripts.archive", { file, reason }]);
}

/** Stops what runs and tries; again when a run began or somebody changed the session in between. */
async function whenStill<T>(key: string, shownKey: string, deps: EndingDeps, attempt: () => Promise<T>): Promise<T> {
  for (let retry = 0; ; retry += 1) {
    await settle(key, shownKey, deps);
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof AppError && error.code === "CONFLICT") || retry === MAX_RETRIES) throw error;
    }
  }
}

/** Begins a session anew under a new id; the transcript so far is put away. */
export async function resetSession(params: MethodParams<"sessions.reset">, deps: EndingDeps): Promise<MethodResult<"sessions.reset">> {
  const key = canonicalKey(params.key, keySettings(deps.config.current));
  const entry = await whenStill(key, params.key, deps, () => begunAnew(key, deps));
  return { ok: true, key, entry };
}

async function begunAnew(key: string, { config, store, clock, ids }: EndingDeps): Promise<SessionEntry> {
  const session = await store.read("sessions.get", { key });
  const old = session?.entry;
  const kept = Object.fromEntries(KEPT.flatMap((field) => (old?.[field] === undefined ? [] : [[field, old[field]]])));
  const fresh = { systemSent: false, abortedLastRun: false, compactionCount: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, totalTokensFresh: true };
  const entry: SessionEntry = { ...kept, sessionId: ids.uuid(), updatedAt: clock.now(), ...fresh };
  await store.commit([
    ...(await archiving(store, session, "reset")),
    ["extensions.clear", { sessionKey: key }],
    ["sessions.put", { key, agentId: session?.agentId ?? agentOf(key, keySettings(config.current)), entry, version: session?.version ?? 0 }],
  ]);
  return entry;
}

export async function deleteSession(params: MethodParams<"sessions.delete">, deps: EndingDeps): Promise<MethodResult<"sessions.delete">> {
  const settings = keySettings(deps.config.current);
  const key = canonicalKey(params.key, settings);
  if (key === mainSessionKey(settings)) throw new AppError("INVALID_INPUT", `Cannot delete the main session (${key}).`);
  const archived = await whenStill(key, params.key, deps, () => removed(key, params.deleteTranscript !== false, deps));
  return { ok: true, key, deleted: archived !== undefined, archived: archived ?? [] };
}

/** The names of the files that were put away; undefined when there was no session. */
async function removed(key: string, withTranscript: boolean, { config, store }: EndingDeps): Promise<readonly string[] | undefined> {
  const session = await store.read("sessions.get", { key });
  if (!session) return undefined;
  const archive = withTranscript ? await archiving(store, session, "deleted") : [];
  const results = await store.commit([...archive, ["extensions.clear", { sessionKey: key }], ["sessions.delete", { key, version: session.version }]]);
  return results.slice(0, archive.length).map((result) => join(config.paths.state, (result as { file: string }).file));
}

/** Keeps the newest entries of the branch in use, and puts the whole transcript away. */
export async function compactSession(params: MethodParams<"sessions.compact">, deps: MethodDeps): Promise<MethodResult<"sessions.compact">> {
  const { config, store, clock } = deps;
  const key = canonicalKey(params.key, keySettings(config.current));
  const maxLines = params.maxLines ?? 400;
  const session = await store.read("sessions.get", { key });
  if (!session) return { ok: true, key, compacted: false, reason: "no session" };
  const [transcript] = await liveTranscripts(store, session);
  if (!transcript) return { ok: true, key, compacted: false, reason: "no transcript" };
  if (transcript.lines <= maxLines) return { ok: true, key, compacted: false, kept: transcript.lines };
  const newest = await newestEntries(store, transcript.file, maxLines);
  // A tool's result without its call would mean nothing to a model.
  const from = newest.findIndex((row) => messageOfRow(row)?.role !== "toolResult");
  const kept = from < 0 ? [] : newest.slice(from);
  const entries = kept.map(({ id, parentId, type, line }, index) => ({
    ...(id === null ? {} : { id }),
    parentId: index === 0 ? null : parentId,
    type,
    line: index === 0 ? JSON.stringify({ ...(JSON.parse(line) as object), parentId: null }) : line,
  }));
  const { file } = transcript;
  const { sessionId } = session.entry;
  const [archived] = await store.commit([
    ["transcripts.archive", { file, reason: "reset" }],
    ["transcripts.ensure", { file, agentId: session.agentId, sessionId, header: headerLine(sessionId, clock.now()) }],
    ["transcripts.append", { file, entries }],
    ["sessions.patch", { key, patch: { inputTokens: null, outputTokens: null, totalTokens: null, totalTokensFresh: false, updatedAt: clock.now() } }],
  ]);
  return { ok: true, key, compacted: true, kept: kept.length, archived: join(config.paths.state, archived.file) };
}
