import { AppError } from "../../base/errors.ts";
import { isStopMessage } from "../../channels/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { AcceptedRun, Responder, RunRequest } from "../ports.ts";
import { audienceOf, extrasWithFiles } from "./chat/asked-run.ts";
import { readHistory } from "./chat/history.ts";
import type { MessageOrder } from "./chat/message-order.ts";
import { cleanMessage } from "./chat/message-text.ts";
import type { RunRelay, StopReason } from "./chat/run-relay.ts";
import type { Broadcast, MethodDeps } from "./deps.ts";
import type { CallContext, Caller, Handlers } from "./handler.ts";
import type { EndingDeps } from "./sessions/endings.ts";
import { canonicalKey, findSession, runnableKey } from "./sessions/keys.ts";
import { turnLimitMs } from "../../sessions/index.ts";
import { checkSendPolicy } from "./sessions/send-policy.ts";
import { appendMessage, headerLine, liveFile } from "./sessions/transcripts.ts";
import { transcriptFile, type Write } from "../../store/index.ts";
import { printableName } from "../../base/printable.ts";
import { rm } from "node:fs/promises";
import type { Ids } from "../../base/ids.ts";
import { loadSaving } from "../../media/index.ts";
import type { AttachedFile } from "./chat/attachments.ts";

type Kept = NonNullable<RunRequest["files"]>;

/** Files of a message, on disk below the state folder. Unless `keep` is called they are removed again. */
interface KeptFiles extends AsyncDisposable {
  readonly files: Kept;
  /** The message was accepted: they belong to it. */
  keep(): void;
}

const OTHER = "application/octet-stream";

/** Stores what came with a message as files from channels are stored: under a name of ours. */
async function keepFiles(attached: readonly AttachedFile[], { stateDir, ids }: { readonly stateDir: string; readonly ids: Ids }): Promise<KeptFiles> {
  let files: { path: string; mimeType: string }[] = [];
  const kept: KeptFiles = {
    get files() {
      return files;
    },
    keep: () => void (files = []),
    async [Symbol.asyncDispose]() {
      for (const { path } of files) await rm(path, { force: true });
    },
  };
  if (attached.length === 0) return kept;
  const { saveMedia } = await loadSaving();
  try {
    for (const { data, mimeType, fileName } of attached) {
      const saved = await saveMedia({ buffer: data, contentType: mimeType, originalFilename: fileName, maxBytes: data.length }, { stateDir, ids });
      files.push({ path: saved.path, mimeType: saved.contentType ?? OTHER });
    }
  } catch (error) {
    await kept[Symbol.asyncDispose]();
    throw error;
  }
  return kept;
}

export interface ChatDeps extends MethodDeps, Pick<EndingDeps, "turns"> {
  readonly responder: Responder;
  readonly relay: RunRelay;
  readonly broadcast: Broadcast;
  readonly order: MessageOrder;
}

/** A run that takes longer to stop than this is announced as stopped before it is. */
const STOP_WAIT_MS = 1000;

/** Hands a run to the responder. A key that was used for something else is the caller's mistake. */
export async function acceptRun(responder: Responder, request: RunRequest): Promise<AcceptedRun> {
  try {
    return await responder.accept(request);
  } catch (error) {
    if (error instanceof AppError && error.code === "CONFLICT") throw new AppError("INVALID_INPUT", error.message, { cause: error, details: error.details });
    throw error;
  }
}

/** Stops runs. Gives those that it reached. */
function stopRuns({ responder, relay }: ChatDeps, sessionKey: string, runIds: readonly string[], reason: StopReason): readonly string[] {
  return runIds.flatMap((runId) => {
    relay.stopping(runId, reason);
    return responder.abort({ sessionKey, runId }, reason);
  });
}

/** Stops everything in a session, as the command does on every channel: what runs, what waits, and the processes it started. */
async function stopSession(deps: ChatDeps, request: Parameters<NonNullable<Responder["stopCommand"]>>[0]): Promise<readonly string[]> {
  const { sessionKey } = request;
  for (const { runId } of deps.relay.active(sessionKey)) deps.relay.stopping(runId, "stop");
  return (await deps.responder.stopCommand?.(request)) ?? stopRuns(deps, sessionKey, chatRuns(deps, sessionKey), "stop");
}

/** Resolves when runs have ended on disk, or after a moment. Their `aborted` events are out then. */
async function untilStopped({ responder, relay, clock }: ChatDeps, reached: readonly string[]): Promise<readonly string[]> {
  if (reached.length === 0) return reached;
  const { promise, resolve } = Promise.withResolvers<void>();
  using _timer = clock.after(STOP_WAIT_MS, resolve);
  await Promise.race([Promise.allSettled(reached.map((runId) => responder.outcome(runId))), promise]);
  for (const runId of reached) relay.announceStop(runId);
  return reached;
}

/** Runs of a session that `chat.abort` and stop words reach. */
function chatRuns({ relay }: ChatDeps, sessionKey: string): readonly string[] {
  return relay.active(sessionKey).flatMap((run) => (run.kind === "agent" ? [] : [run.runId]));
}

function answerOf({ runId, duplicate, ended }: AcceptedRun): MethodResult<"chat.send"> {
  if (!duplicate) return { runId, status: "started" };
  if (!ended) return { runId, status: "in_flight" };
  if (ended.status === "error") throw new AppError("UNAVAILABLE", ended.error, { details: { payload: { runId, status: "error", summary: ended.error } } });
  return { runId, status: "ok" };
}

async function send(params: MethodParams<"chat.send">, { caller }: CallContext, deps: ChatDeps): Promise<MethodResult<"chat.send">> {
  const { config, order } = deps;
  const message = cleanMessage(params.message);
  if (message.trim() === "" && !params.attachments?.length) throw new AppError("INVALID_INPUT", "message or attachment required");
  const { extras, files } = extrasWithFiles(params, caller, config.current);
  const sessionKey = runnableKey(params.sessionKey, config.current);
  if (isStopMessage(message)) {
    const request = { sessionKey, message, channel: "webchat", scopes: [...caller.scopes], owner: extras.owner ?? false };
    const stop = (): Promise<readonly string[]> => checkSendPolicy(sessionKey, "webchat", deps, message).then(() => stopSession(deps, request));
    const runIds = await untilStopped(deps, await order.stop(sessionKey, stop));
    return { ok: true, aborted: runIds.length > 0, runIds: [...runIds] };
  }
  if (message.trim() === "" && extras.images === undefined && files.length === 0) throw new AppError("INVALID_INPUT", "message or attachment required");
  return order.accept(sessionKey, () => start(params, { sessionKey, message, extras, files }, caller, deps));
}

interface Sent extends ReturnType<typeof extrasWithFiles> {
  readonly sessionKey: string;
  readonly message: string;
}

async function start(params: MethodParams<"chat.send">, { sessionKey, message, extras, files }: Sent, caller: Caller, deps: ChatDeps) {
  const { responder, relay, config, ids } = deps;
  const entry = await checkSendPolicy(sessionKey, "webchat", deps, message);
  const runId = params.idempotencyKey;
  const expected = relay.expect(runId, { sessionKey, sentKey: params.sessionKey, kind: "chat", ...audienceOf(config.current, entry, caller) });
  try {
    await using kept = await keepFiles(files, { stateDir: config.paths.state, ids });
    const more = { ...extras, timeoutMs: turnLimitMs(config.current, params.timeoutMs), ...(files.length === 0 ? {} : { files: [...kept.files] }) };
    const accepted = await acceptRun(responder, { runId, sessionKey, message, channel: "webchat", scopes: [...caller.scopes], ...more });
    if (!accepted.duplicate) kept.keep();
    if (expected && accepted.duplicate && accepted.ended) relay.forget(runId);
    return answerOf(accepted);
  } catch (error) {
    if (expected) relay.forget(runId);
    throw error;
  }
}

async function history(params: MethodParams<"chat.history">, deps: ChatDeps): Promise<MethodResult<"chat.history">> {
  const { store } = deps;
  const { session } = await findSession(params.sessionKey, deps);
  if (!session) return { sessionKey: params.sessionKey, messages: [] };
  const file = await liveFile(store, session);
  const { sessionId, thinkingLevel, verboseLevel } = session.entry;
  return {
    sessionKey: params.sessionKey,
    sessionId,
    messages: file === undefined ? [] : await readHistory(store, file, params.limit ?? 200),
    ...(typeof thinkingLevel === "string" ? { thinkingLevel } : {}),
    ...(typeof verboseLevel === "string" ? { verboseLevel } : {}),
  };
}

async function abort(params: MethodParams<"chat.abort">, deps: ChatDeps): Promise<MethodResult<"chat.abort">> {
  const { relay, order } = deps;
  const sessionKey = canonicalKey(params.sessionKey, deps.config.current);
  const reached = await order.stop(sessionKey, () => {
    if (params.runId === undefined) return stopRuns(deps, sessionKey, chatRuns(deps, sessionKey), "rpc");
    const run = relay.find(params.runId);
    if (!run || run.kind === "agent") return [];
    if (run.sessionKey !== sessionKey) throw new AppError("INVALID_INPUT", "runId does not match sessionKey");
    return stopRuns(deps, sessionKey, [params.runId], "rpc");
  });
  const runIds = await untilStopped(deps, reached);
  return { ok: true, aborted: runIds.length > 0, runIds };
}

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };

async function inject(params: MethodParams<"chat.inject">, deps: ChatDeps): Promise<MethodResult<"chat.inject">> {
  const { store, clock, ids, broadcast } = deps;
  const { key, session } = await findSession(params.sessionKey, deps);
  if (!session) throw new AppError("INVALID_INPUT", "session not found");
  const { agentId, entry } = session;
  const at = clock.now();
  const text = params.label === undefined ? params.message : `[${printableName(params.label)}]\n\n${params.message}`;
  const shown = { role: "assistant" as const, content: [{ type: "text", text }], timestamp: at };
  const message = { ...shown, api: "openai-responses", provider: "openclaw", model: "gateway-injected", usage: NO_USAGE, stopReason: "stop" };
  const known = await liveFile(store, session);
  const file = known ?? transcriptFile(agentId, entry.sessionId);
  const before: Write[] = [["transcripts.ensure", { file, agentId, sessionId: entry.sessionId, header: headerLine(entry.sessionId, at) }]];
  const messageId = await appendMessage({ store, ids }, { file, at, message, before });
  broadcast("chat", { runId: `inject-${messageId}`, sessionKey: key, seq: 0, state: "final", message: shown });
  return { ok: true, messageId };
}

/** Talking with a session from a client. */
export function chatHandlers(deps: ChatDeps) {
  return {
    "chat.send": (params, context) => send(params, context, deps),
    "chat.history": (params) => history(params, deps),
    "chat.abort": (params) => abort(params, deps),
    "chat.inject": (params) => inject(params, deps),
  } satisfies Handlers;
}
