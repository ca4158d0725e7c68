import { readFileSync, rmSync } from "node:fs";
import { messageOf, systemCode } from "../../base/errors.ts";
import { writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import type { Config } from "../../config/index.ts";
import { queueSystemEvent } from "../system-events.ts";
import { type SentinelPayload } from "../methods/deps.ts";
import type { ReplyAddress } from "../../conversation/index.ts";
import { deliveryOf } from "../../sessions/index.ts";
import type { Store } from "../../store/index.ts";

const VERSION = 1;
/** A note is a few lines; more was not left by us. */
const MAX_TEXT = 4000;

/** Leaves a note for the gateway after the restart, on disk before the restart is asked for. Gives the path; null when that failed. */
export function leaveSentinel(path: string, payload: SentinelPayload, deps: { readonly ids: Ids; readonly log: Logger }): string | null {
  try {
    writeAtomic(path, `${JSON.stringify({ version: VERSION, payload }, null, 2)}\n`, { temporary: `${path}.${deps.ids.hex(4)}` });
    return path;
  } catch (error) {
    deps.log.warn("the restart notice could not be written; the session will not be notified", { error });
    return null;
  }
}

function parseSentinel(text: string): SentinelPayload {
  const sentinel: unknown = JSON.parse(text);
  const { version, payload } = isRecord(sentinel) ? sentinel : {};
  if (version !== VERSION) throw new Error(`expected version ${VERSION}, found ${String(version)}`);
  const { kind, status, ts, sessionKey, message, stats } = isRecord(payload) ? payload : {};
  if (typeof kind !== "string" || typeof status !== "string" || typeof ts !== "number")
    throw new Error("payload.kind, payload.status and payload.ts are needed");
  const mode = isRecord(stats) ? stats["mode"] : undefined;
  return {
    kind,
    status,
    ts,
    ...(typeof sessionKey === "string" && sessionKey.trim() !== "" ? { sessionKey } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof mode === "string" ? { stats: { mode } } : {}),
  };
}

/** The text for the session. */
export function noticeOf({ kind, status, message, stats }: SentinelPayload): string {
  const note = message?.trim() ? `\n${message.trim()}` : "";
  return `Gateway restarted: ${kind} ${status}${stats?.mode ? ` (${stats.mode})` : ""}${note}`.slice(0, MAX_TEXT);
}

export interface SentinelDeps {
  readonly config: Pick<Config, "current">;
  readonly store: Store;
  readonly ids: Ids;
  readonly log: Logger;
  /** Sends a text to the chat that a session's answers go to. */
  readonly deliver?: (address: ReplyAddress, text: string, sessionKey: string) => Promise<unknown>;
}

/** Where the session's people are: in the chat that its last message came from. */
async function chatOf({ store }: SentinelDeps, sessionKey: string): Promise<ReplyAddress | undefined> {
  const { channel, to, accountId = "default", threadId } = deliveryOf((await store.read("sessions.get", { key: sessionKey }))?.entry) ?? {};
  if (channel === undefined || to === undefined || channel === "webchat") return undefined;
  return { channel, to, accountId, chatType: "direct", ...(threadId === undefined ? {} : { threadId }) };
}

/** Notifies the session that a note names, and removes the note. A note that cannot be delivered now stays for the next start. */
export async function takeSentinel(path: string, deps: SentinelDeps): Promise<void> {
  let payload: SentinelPayload;
  try {
    payload = parseSentinel(readFileSync(path, "utf8"));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    deps.log.warn(`the restart notice cannot be read and was discarded: ${path}: ${messageOf(error)}`);
    return rmSync(path, { force: true });
  }
  try {
    const idempotencyKey = `restart:${payload.kind}:${payload.ts}`;
    const sessionKey = await queueSystemEvent(deps, { text: noticeOf(payload), sessionKey: payload.sessionKey, idempotencyKey, keep: true });
    rmSync(path, { force: true });
    const address = deps.deliver && (await chatOf(deps, sessionKey));
    if (address) await deps.deliver?.(address, noticeOf(payload), sessionKey);
    deps.log.info(`${sessionKey} will be notified about the restart (${payload.kind})`);
  } catch (error) {
    deps.log.warn("the session could not be notified about the restart; this is retried at the next start", { error });
  }
}
