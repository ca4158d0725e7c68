import { rm } from "node:fs/promises";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import { printableName } from "../../base/printable.ts";
import { isStopMessage } from "../../channels/index.ts";
import { loadSaving } from "../../media/index.ts";
import { covers, type MethodParams, type MethodResult } from "../../protocol/index.ts";
import { turnLimitMs } from "../../sessions/index.ts";
import { transcriptFile, type Write } from "../../store/index.ts";
import type { Responder, RunRequest } from "../ports.ts";
import type { RunRelay, StopReason } from "../runs/relay.ts";
import { answeringAgain, editing, listBranches, runInBranch, switchBranch, type BranchDeps } from "./chat/branches.ts";
import { attachedTo, type Attached, type AttachedFile } from "./chat/attachments.ts";
import { readHistory } from "./chat/history.ts";
import { acceptRun, checkSendPolicy, cleanMessage, thinkingOf, type Asked, type MessageOrder } from "./chat/incoming.ts";
import type { Broadcast, MethodDeps } from "./deps.ts";
import type { Handler, Handlers } from "./handler.ts";
import type { EndingDeps } from "./sessions/endings.ts";
import { canonicalKey, findSession, runnableKey } from "./sessions/keys.ts";
import { appendMessage, headerLine, liveFile } from "./sessions/transcripts.ts";

/** Files of a message, on disk below the state folder. Disposing removes them unless `keep` was called. */
interface StoredFiles extends AsyncDisposable {
  readonly files: NonNullable<RunRequest["files"]>;
  /** The message was accepted: they belong to it. */
  keep(): void;
}

const OTHER = "application/octet-stream";

/** Stores the files of a message as files from channels are stored: under a name of our own. */
async function storeFiles(attached: readonly AttachedFile[], { stateDir, ids }: { readonly stateDir: string; readonly ids: Ids }): Promise<StoredFiles> {
  const files: { path: string; mimeType: string }[] = [];
  let kept = false;
  const stored: StoredFiles = {
    files,
    keep: () => void (kept = true),
    async [Symbol.asyncDispose]() {
      if (!kept) for (const { path } of files) await rm(path, { force: true });
    },
  };
  const { saveMedia } = await loadSaving();
  try {
    for (const { data, mimeType, fileName } of attached) {
      const saved = await saveMedia({ buffer: data, contentType: mimeType, originalFilename: fileName, maxBytes: data.length }, { stateDir, ids });
      files.push({ path: saved.path, mimeType: saved.contentType ?? OTHER });
    }
  } catch (error) {
    await stored[Symbol.asyncDispose]();
    throw error;
  }
  return stored;
}

export interface ChatDeps extends MethodDeps, Pick<EndingDeps, "turns"> {
  readonly responder: Responder;
  readonly relay: RunRelay;
  readonly broadcast: Broadcast;
  readonly order: MessageOrder;
  /** Absent: conversations are not branched. */
  readonly exclusively?: BranchDeps["exclusively"] | undefined;
}

/** A run that takes longer to stop than this is announced as stopped before it is. */
const STOP_WAIT_MS = 1000;

/** Stops runs. Returns those that it reached. */
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

const MB = 1024 * 1024;
const DEFAULT_FILE_MB = 5;
type Started = MethodResult<"chat.regenerate">;
const NOTHING: Attached = { images: [], files: [] };

function sendHandler(deps: ChatDeps): Handler<"chat.send"> {
  const { config, order } = deps;
  return async (params, { caller }) => {
    const message = cleanMessage(params.message);
    const { attachments = [] } = params;
    if (message.trim() === "" && attachments.length === 0) throw new AppError("INVALID_INPUT", "message or attachment required");
    // Files may be as large as those that come over channels.
    const maxFileBytes = (config.current.agents?.defaults?.mediaMaxMb ?? DEFAULT_FILE_MB) * MB;
    const attached = attachments.length === 0 ? NOTHING : attachedTo(attachments, maxFileBytes);
    const thinking = params.thinking === undefined ? undefined : thinkingOf(params.thinking);
    const sessionKey = runnableKey(params.sessionKey, config.current);
    const scopes = [...caller.scopes];
    const asked = { sessionKey, message, channel: "webchat", scopes, owner: covers(scopes, "operator.admin") };
    if (isStopMessage(message)) {
      const stop = (): Promise<readonly string[]> => checkSendPolicy(sessionKey, "webchat", deps, message).then(() => stopSession(deps, asked));
      const runIds = await untilStopped(deps, await order.stop(sessionKey, stop));
      return { ok: true, aborted: runIds.length > 0, runIds: [...runIds] };
    }
    if (message.trim() === "" && attached.images.length === 0 && attached.files.length === 0)
      throw new AppError("INVALID_INPUT", "message or attachment required");
    const { idempotencyKey: runId, timeoutMs } = params;
    const { images } = attached;
    const more = { ...(images.length === 0 ? {} : { images }), ...(thinking === undefined ? {} : { thinking }) };
    const request: RunRequest = { runId, ...asked, ...more, timeoutMs: turnLimitMs(config.current, timeoutMs) };
    const from = { caller, kind: "chat", sentKey: params.sessionKey } as const;
    const { edits } = params;
    return order.accept(sessionKey, () =>
      edits === undefined
        ? start(request, attached.files, from, deps)
        : runInBranch(
            {
              runId,
              sessionKey,
              begin: async () => start(request, attached.files, from, deps, await editing(sessionKey, edits, deps, runId)),
              repeat: () => start(request, attached.files, from, deps),
            },
            branching(deps),
          ),
    );
  };
}

function branching(deps: ChatDeps): BranchDeps {
  const { exclusively } = deps;
  if (!exclusively) throw new AppError("UNAVAILABLE", "this gateway does not support conversation branches");
  return { ...deps, exclusively };
}

function regenerateHandler(deps: ChatDeps): Handler<"chat.regenerate"> {
  const { config, order } = deps;
  return async (params, { caller }) => {
    const { entryId, idempotencyKey: runId, timeoutMs } = params;
    const thinking = params.thinking === undefined ? undefined : thinkingOf(params.thinking);
    const sessionKey = runnableKey(params.sessionKey, config.current);
    const owner = covers([...caller.scopes], "operator.admin");
    const from = { caller, kind: "chat", sentKey: params.sessionKey } as const;
    const limits = { timeoutMs: turnLimitMs(config.current, timeoutMs), ...(thinking === undefined ? {} : { thinking }) };
    const facts = { runId, sessionKey, channel: "webchat", kind: "regenerate", again: true, owner, ...limits } as const;
    const begin = async (): Promise<Started> => {
      const { message, writes } = await answeringAgain(sessionKey, entryId, deps, runId);
      return start({ ...facts, message }, [], from, deps, writes);
    };
    const repeat = (message: string): Promise<Started> => start({ ...facts, message }, [], from, deps);
    return order.accept(sessionKey, () => runInBranch({ runId, sessionKey, begin, repeat }, branching(deps)));
  };
}

async function start(
  request: RunRequest,
  attached: readonly AttachedFile[],
  asked: Omit<Asked, "entry">,
  deps: ChatDeps,
  also?: readonly Write[],
): Promise<Started> {
  const { config, ids } = deps;
  const entry = await checkSendPolicy(request.sessionKey, "webchat", deps, request.message);
  await using stored = attached.length === 0 ? undefined : await storeFiles(attached, { stateDir: config.paths.state, ids });
  const whole = stored ? { ...request, files: stored.files } : request;
  const { runId, duplicate, ended } = await acceptRun(whole, { ...asked, entry }, deps, also);
  if (!duplicate) {
    stored?.keep();
    return { runId, status: "started" };
  }
  if (!ended) return { runId, status: "in_flight" };
  if (ended.status === "error") throw new AppError("UNAVAILABLE", ended.error, { details: { payload: { runId, status: "error", summary: ended.error } } });
  return { runId, status: "ok" };
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

async function steer(params: MethodParams<"chat.steer">, deps: ChatDeps): Promise<MethodResult<"chat.steer">> {
  const sessionKey = canonicalKey(params.sessionKey, deps.config.current);
  return { ok: true, steered: deps.responder.steer?.({ sessionKey, runId: params.runId }) ?? false };
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
  const { exclusively } = deps;
  return {
    "chat.send": sendHandler(deps),
    "chat.history": (params) => history(params, deps),
    "chat.abort": (params) => abort(params, deps),
    "chat.steer": (params) => steer(params, deps),
    "chat.inject": (params) => inject(params, deps),
    "chat.regenerate": regenerateHandler(deps),
    "chat.branches": (params) => listBranches(params, deps),
    "chat.branch": exclusively && ((params) => switchBranch(params, { ...deps, exclusively })),
  } satisfies Handlers;
}
