import { AppError } from "../../base/errors.ts";
import { CHANNEL_IDS } from "../../config/index.ts";
import type { ReplyAddress } from "../../conversation/index.ts";
import { covers, shownAnswer, type MethodParams, type MethodResult } from "../../protocol/index.ts";
import { createRouting } from "../../routing/index.ts";
import { deliveryOf, turnLimitMs } from "../../sessions/index.ts";
import type { AcceptedRun, RunOutcome } from "../ports.ts";
import type { EndedRun } from "../runs/relay.ts";
import type { ChatDeps } from "./chat.ts";
import { imagesOf } from "./chat/attachments.ts";
import { acceptRun, checkSendPolicy, cleanMessage, thinkingOf } from "./chat/incoming.ts";
import type { CallContext, Handlers } from "./handler.ts";
import { agentList, keySettings, mainSessionKey, resolveKey } from "./sessions/keys.ts";

type Params = MethodParams<"agent">;

const invalid = (text: string): AppError => new AppError("INVALID_INPUT", `invalid agent params: ${text}`);
const WAIT_MS = 30_000;
/** Channels that are always there: the gateway's own. */
const OWN_CHANNELS = new Set(["last", "webchat", "internal"]);

/** Checks what the call names and gives the canonical key of its session. */
function sessionFor(params: Params, { config, store }: ChatDeps): string | Promise<string> {
  const settings = keySettings(config.current);
  const runnable = (written: string): { readonly key: string; readonly agentId: string } => {
    const found = resolveKey(written, config.current);
    if (!found.ok) throw invalid(found.message);
    return found;
  };
  const agentId = params.agentId?.trim().toLowerCase();
  if (agentId !== undefined && !agentList(config.current).some((agent) => agent.id.toLowerCase() === agentId)) throw invalid(`unknown agent id "${agentId}"`);
  // Command lines send their default channel whether or not it is configured.
  const channels = new Set([...OWN_CHANNELS, ...CHANNEL_IDS, ...Object.keys(config.current.channels ?? {})]);
  for (const channel of [params.channel, params.replyChannel]) {
    const name = channel?.trim().toLowerCase();
    if (name && !channels.has(name)) throw invalid(`unknown channel: ${channel}`);
  }
  const given = params.sessionKey?.trim();
  if (given) {
    const key = runnable(agentId === undefined || /^(?:agent:|global$|unknown$)/i.test(given) ? given : `agent:${agentId}:${given}`);
    if (agentId !== undefined && /^agent:/i.test(given) && key.agentId !== agentId)
      throw invalid(`agent "${agentId}" does not match session key agent "${key.agentId}"`);
    return key.key;
  }
  const sessionId = params.sessionId?.trim();
  if (sessionId) {
    return store.read("sessions.bySessionId", { sessionId }).then((rows) => {
      const found = rows.find((row) => agentId === undefined || row.agentId === agentId);
      return runnable(found?.key ?? `agent:${agentId ?? settings.defaultAgentId}:${sessionId}`).key;
    });
  }
  const to = params.to?.trim();
  if (agentId === undefined && !to) throw invalid("set one of sessionKey, agentId, sessionId or to");
  const channel = channelOf(params);
  if (!to || OWN_CHANNELS.has(channel)) return mainSessionKey(settings, agentId);
  // Whom it is for has a session, as if they had written themselves.
  const place = { config: config.current, channel, accountId: params.accountId, peer: { kind: "direct", id: to } } as const;
  const routing = createRouting();
  return agentId === undefined ? routing.resolveRoute(place).sessionKey : routing.sessionKeys(agentId, place).sessionKey;
}

const channelOf = ({ channel }: Params): string => channel?.trim().toLowerCase() || "webchat";

/** Where the answer is sent besides: what the call names, else where the session's answers go. */
async function replyAddress(params: Params, sessionKey: string, { config, store }: ChatDeps): Promise<ReplyAddress | undefined> {
  if (params.deliver !== true) return undefined;
  const entry = (await store.read("sessions.get", { key: sessionKey }))?.entry;
  const last = deliveryOf(entry);
  const asked = (params.replyChannel ?? params.channel)?.trim().toLowerCase();
  const channel = asked === undefined || asked === "last" || asked === "" ? last?.channel : asked;
  const to = params.replyTo?.trim() || params.to?.trim() || (channel === last?.channel ? last?.to : undefined);
  if (!channel || OWN_CHANNELS.has(channel) || !to)
    throw invalid("deliver needs a channel and a recipient: set replyChannel and replyTo, or write in that chat first");
  if (config.current.channels?.[channel] === undefined)
    throw invalid(
      `deliver needs a channel that is configured, and ${channel} is not: run \`openclaw channels add --channel ${channel}\`, or leave deliver out`,
    );
  const accountId = params.replyAccountId ?? params.accountId ?? (channel === last?.channel ? last?.accountId : undefined) ?? "default";
  const threadId = params.threadId ?? (channel === last?.channel && to === last?.to ? last?.threadId : undefined);
  return { channel, accountId, to, chatType: "direct", ...(threadId === undefined ? {} : { threadId }) };
}

/** What answered. A run that ended before any model was asked names none. */
function agentMetaOf({ sessionId, provider = "openclaw", model = "none", usage, lastCallUsage }: Exclude<RunOutcome, { readonly status: "error" }>) {
  const prompt = lastCallUsage && lastCallUsage.input + lastCallUsage.cacheRead + lastCallUsage.cacheWrite;
  return {
    sessionId,
    provider,
    model,
    ...(usage === undefined ? {} : { usage }),
    ...(lastCallUsage === undefined ? {} : { lastCallUsage }),
    ...(prompt === undefined ? {} : { promptTokens: prompt }),
  };
}

/** An answer with the files that it names. */
function payloadOf(answer: string) {
  const { text, files } = shownAnswer(answer);
  return { text, mediaUrl: files[0] ?? null, ...(files.length > 1 ? { mediaUrls: [...files] } : {}) };
}

function finalOf(runId: string, outcome: RunOutcome): MethodResult<"agent"> {
  if (outcome.status === "error") {
    const { error, failure } = outcome;
    const retryAfterMs = failure && "retryAfterMs" in failure && failure.retryAfterMs !== undefined ? { retryAfterMs: failure.retryAfterMs } : {};
    const facts = failure ? { reason: failure.kind, ...retryAfterMs, ...(failure.kind === "restarting" ? { retryable: true } : {}) } : {};
    throw new AppError("UNAVAILABLE", error, { details: { payload: { runId, status: "error", summary: error }, ...facts } });
  }
  const aborted = outcome.status === "aborted";
  const silent = outcome.silent === true || outcome.text === "" || outcome.text.trim() === "NO_REPLY";
  const stopReason = outcome.status === "aborted" ? (outcome.abortedBy === "timeout" ? "timeout" : "aborted") : outcome.stopReason;
  const texts = outcome.payloads ?? (silent ? [] : [outcome.text]);
  const calls = outcome.calls?.map(({ id, name, arguments: given }) => ({ id, name, arguments: JSON.stringify(given) }));
  return {
    runId,
    status: "ok",
    summary: "completed",
    result: {
      payloads: texts.map(payloadOf),
      meta: {
        durationMs: outcome.durationMs,
        agentMeta: agentMetaOf(outcome),
        aborted,
        ...(stopReason === undefined ? {} : { stopReason }),
        ...(calls === undefined || calls.length === 0 ? {} : { pendingToolCalls: calls }),
      },
    },
  };
}

async function start(params: Params, sessionKey: string, deps: ChatDeps, { caller }: CallContext): Promise<AcceptedRun> {
  const images = imagesOf(params.attachments ?? []);
  const thinking = params.thinking === undefined ? undefined : thinkingOf(params.thinking);
  const message = cleanMessage(params.message);
  const entry = await checkSendPolicy(sessionKey, channelOf(params), deps, message);
  const reply = await replyAddress(params, sessionKey, deps);
  const request = {
    runId: params.idempotencyKey,
    sessionKey,
    message,
    channel: channelOf(params),
    scopes: [...caller.scopes],
    ...(images.length === 0 ? {} : { images }),
    ...(thinking === undefined ? {} : { thinking }),
    owner: covers(caller.scopes, "operator.admin"),
    ...(params.extraSystemPrompt === undefined ? {} : { systemPrompt: params.extraSystemPrompt }),
    timeoutMs: turnLimitMs(deps.config.current, params.timeout === undefined ? undefined : params.timeout * 1000),
    ...(reply ? { reply } : {}),
  };
  return acceptRun(request, { caller, entry, kind: "agent", sentKey: params.sessionKey ?? sessionKey }, deps);
}

async function run(params: Params, context: CallContext, deps: ChatDeps): Promise<MethodResult<"agent">> {
  const { responder, clock, order } = deps;
  const session = sessionFor(params, deps);
  // Without waiting, where that is possible: a stop behind this call is to find it.
  const sessionKey = typeof session === "string" ? session : await session;
  const accepted = await order.accept(sessionKey, () => start(params, sessionKey, deps, context));
  const { runId } = accepted;
  if (accepted.ended) return finalOf(runId, accepted.ended);
  context.accepted({ runId, status: "accepted", acceptedAt: clock.now() });
  const outcome = await responder.outcome(runId, context.signal);
  if (!outcome) throw new AppError("UNAVAILABLE", `run ${runId} has no outcome yet; call agent.wait to get it`);
  return finalOf(runId, outcome);
}

function waited(runId: string, ended: EndedRun | undefined): MethodResult<"agent.wait"> {
  if (!ended || ended.status === "aborted") return { runId, status: "timeout" };
  const { status, startedAt, endedAt, error } = ended;
  return { runId, status, ...(startedAt === undefined ? {} : { startedAt }), endedAt, ...(error === undefined ? {} : { error }) };
}

/** Waits for a run to end. One that nobody knows may still come: it is waited for as long. */
async function wait(params: MethodParams<"agent.wait">, { signal }: CallContext, { relay, responder, clock }: ChatDeps): Promise<MethodResult<"agent.wait">> {
  const { runId } = params;
  const known = relay.ended.get(runId);
  if (known) return waited(runId, known);
  const { promise, resolve } = Promise.withResolvers<EndedRun | undefined>();
  const give = (): void => resolve(undefined);
  using _end = relay.ended.onEnd((ended, how) => ended === runId && resolve(how));
  using _timer = clock.after(params.timeoutMs ?? WAIT_MS, give);
  signal.addEventListener("abort", give, { once: true });
  try {
    if (relay.find(runId) === undefined) {
      // Not of this process's life: perhaps the store knows it.
      const outcome = await Promise.race([responder.outcome(runId, signal).catch(() => undefined), promise.then(() => undefined)]);
      // A run that is left for the next start has not ended.
      if (outcome?.status === "error" && outcome.failure?.kind !== "restarting") return { runId, status: "error", error: outcome.error };
      if (outcome && outcome.status !== "error") return { runId, status: outcome.status === "ok" ? "ok" : "timeout" };
    }
    return waited(runId, await promise);
  } finally {
    signal.removeEventListener("abort", give);
  }
}

/** Runs of agents. */
export function agentHandlers(deps: ChatDeps) {
  return {
    agent: (params, context) => run(params, context, deps),
    "agent.wait": (params, context) => wait(params, context, deps),
  } satisfies Handlers;
}
