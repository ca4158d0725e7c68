/** Messages of clients on their way to the conversation: cleaned, checked, in order, accepted. */
import { THINKING_LEVELS } from "../../../base/thinking.ts";
import { AppError } from "../../../base/errors.ts";
import { isControlCommandMessage } from "../../../channels/index.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { SessionEntry, ThinkingLevel } from "../../../protocol/index.ts";
import { reasoningLevel, sendPolicy, verboseLevel } from "../../../sessions/index.ts";
import type { Store, Write } from "../../../store/index.ts";
import type { AcceptedRun, Responder, RunRequest } from "../../ports.ts";
import type { ExpectedRun, RunRelay } from "../../runs/relay.ts";
import type { Caller } from "../handler.ts";

/** Control characters other than tab, line feed and carriage return. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** More combining marks on one letter than any script has. Composing sorts them, in a time that grows with their square. */
const PILED_MARKS = /\p{M}{31}/u;

/** About a thousand pages. A longer one would be sent to every client again with each piece of its answer. */
const MAX_MESSAGE = 1_000_000;

/** A client's text in composed form, without control characters. A null byte is refused. */
export function cleanMessage(text: string): string {
  if (text.length > MAX_MESSAGE) throw new AppError("INVALID_INPUT", `message must not be longer than ${MAX_MESSAGE} characters, this one has ${text.length}`);
  if (text.includes("\0")) throw new AppError("INVALID_INPUT", "message must not contain null bytes");
  return (PILED_MARKS.test(text) ? text : text.normalize("NFC")).replace(CONTROL, "");
}

/** The level that a caller wants for one run; undefined for a blank one. */
export function thinkingOf(written: string): ThinkingLevel | undefined {
  const word = written.trim().toLowerCase();
  if (!word) return undefined;
  const level = THINKING_LEVELS.find((known) => known === word);
  if (!level) throw new AppError("INVALID_INPUT", `invalid thinking (use ${THINKING_LEVELS.map((known) => `"${known}"`).join("|")})`);
  return level;
}

export interface SendPolicyDeps {
  readonly config: { readonly current: OpenClawConfig };
  readonly store: Pick<Store, "read">;
}

/**
 * Refuses a message to a session that may not be written to, and returns the session's entry. To be called wherever a message comes in, with the channel it
 * comes by. A command passes, as it does on channels: a user who silenced a session can turn it on again.
 */
export async function checkSendPolicy(sessionKey: string, channel: string, { config, store }: SendPolicyDeps, message = ""): Promise<SessionEntry | undefined> {
  const entry = (await store.read("sessions.get", { key: sessionKey }))?.entry;
  if (isControlCommandMessage(message, config.current)) return entry;
  if (!sendPolicy(config.current, sessionKey, entry, channel).allowed) throw new AppError("INVALID_INPUT", "send blocked by session policy");
  return entry;
}

/**
 * Messages of one session that are on their way to the disk. A request that ends runs waits for those before it, so that it reaches them, and those behind it
 * wait until it has: a client need not wait for one answer before it sends the next request.
 */
export interface MessageOrder {
  /** Accepts a message: at once, or when the stop before it has reached its runs. */
  accept<T>(sessionKey: string, work: () => Promise<T>): Promise<T>;
  /** Carries out what ends runs when the messages before are accepted; those behind it wait for that. */
  stop<T>(sessionKey: string, work: () => Promise<T> | T): Promise<T>;
}

export function createMessageOrder(): MessageOrder {
  /** Messages that are not accepted yet, with their sessions. */
  const messages = new Map<Promise<unknown>, string>();
  /** The newest stop of each session that has not reached its runs. */
  const stops = new Map<string, Promise<unknown>>();
  return {
    async accept(sessionKey, work) {
      const stop = stops.get(sessionKey);
      const accepted = stop ? stop.then(work, work) : work();
      messages.set(accepted, sessionKey);
      try {
        return await accepted;
      } finally {
        messages.delete(accepted);
      }
    },
    async stop(sessionKey, work) {
      const before = [...messages].flatMap(([message, key]) => (key === sessionKey ? [message] : []));
      const stopped = Promise.allSettled([stops.get(sessionKey), ...before]).then(work);
      stops.set(sessionKey, stopped);
      try {
        return await stopped;
      } finally {
        if (stops.get(sessionKey) === stopped) stops.delete(sessionKey);
      }
    },
  };
}

export interface AcceptDeps {
  readonly config: { readonly current: OpenClawConfig };
  readonly responder: Responder;
  readonly relay: Pick<RunRelay, "expect" | "forget">;
}

/** How the run was asked for. */
export interface Asked extends Pick<ExpectedRun, "kind" | "sentKey"> {
  readonly caller: Caller;
  readonly entry: SessionEntry | undefined;
}

/** Hands a run to the responder. Its events go to clients as the session's settings have it. A key that was used for something else is the caller's mistake. */
export async function acceptRun(
  request: RunRequest,
  { caller, entry, kind, sentKey }: Asked,
  { config, responder, relay }: AcceptDeps,
  also?: readonly Write[],
): Promise<AcceptedRun> {
  const { runId, sessionKey } = request;
  const follower = caller.caps.has("tool-events") ? caller.connId : undefined;
  const levels = { verbose: verboseLevel(config.current, entry).value, reasoning: reasoningLevel(entry).value };
  const expected = relay.expect(runId, { sessionKey, sentKey, kind, follower, ...levels });
  try {
    const accepted = await responder.accept(request, also);
    if (expected && accepted.duplicate && accepted.ended) relay.forget(runId);
    return accepted;
  } catch (error) {
    if (expected) relay.forget(runId);
    if (error instanceof AppError && error.code === "CONFLICT") throw new AppError("INVALID_INPUT", error.message, { cause: error, details: error.details });
    throw error;
  }
}
