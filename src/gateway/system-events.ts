import type { Ids } from "../base/ids.ts";
import type { Config, OpenClawConfig } from "../config/index.ts";
import type { Store, Write } from "../store/index.ts";
import { canonicalKey, keySettings, mainSessionKey } from "./methods/sessions/keys.ts";
import { KEPT, SYSTEM_EVENTS, UNTIL_HEARD } from "../sessions/index.ts";

/** A note for the next turn of a session. */
export interface SystemEvent {
  readonly text: string;
  /** As the caller wrote it; without one, or with one that names no session, it is the main session. */
  readonly sessionKey?: string | undefined;
  /** The same event queued again under its key counts once. */
  readonly idempotencyKey?: string;
  /** It asks for a heartbeat: the next one, or one at once. Without it, it waits for whatever turn comes next. */
  readonly wake?: { readonly source: "cron" | "exec" | "hook" | "wake"; readonly now: boolean; readonly ref?: string } | undefined;
  /** It stays until a turn has read it, however many come after it. Events with `wake` always do. */
  readonly keep?: true | undefined;
  /** It is for the person: turns whose answer reaches nobody leave it for another one. */
  readonly untilHeard?: true | undefined;
}

/** Notes that wait in one session; of more the oldest go, except those that are to stay. */
const MAX_NOTES = 20;
/** Events that someone waits for are never dropped: more are refused. Commands that end always have a place. */
const MAX_QUEUED = 200;

/** The session that everything without a session of its own belongs to. */
export const mainSession = (config: OpenClawConfig): string => mainSessionKey(keySettings(config));

type EventWrite = Extract<Write, readonly ["injections.add", unknown]>;
type EventDeps = { readonly config: Pick<Config, "current">; readonly ids: Ids };

/** The write that queues an event, for a commit with others, and the session that will get it. */
export function systemEventWrite({ config: { current }, ids }: EventDeps, event: SystemEvent): { readonly sessionKey: string; readonly write: EventWrite } {
  let sessionKey = mainSession(current);
  try {
    if (event.sessionKey !== undefined) sessionKey = canonicalKey(event.sessionKey, current);
  } catch {
    // A key that cannot be parsed names no session: the main session gets it instead.
  }
  const { text, idempotencyKey, wake, keep, untilHeard } = event;
  const kept = keep === true || untilHeard === true ? { ...(keep ? KEPT : {}), ...(untilHeard ? UNTIL_HEARD : {}) } : undefined;
  const payload = wake ? { wake: wake.source, now: wake.now, ...(wake.ref === undefined ? {} : { ref: wake.ref }) } : kept;
  const about = { id: ids.uuid(), sessionKey, pluginId: SYSTEM_EVENTS, placement: "system-event", most: MAX_NOTES } as const;
  const limit = wake && wake.source !== "exec" ? MAX_QUEUED : undefined;
  return { sessionKey, write: ["injections.add", { ...about, text, payload, idempotencyKey, limit }] };
}

/** Queues an event, on disk; `OVERLOADED` when too many wait. One that repeats the last is dropped. Returns the session that will get it. */
export async function queueSystemEvent(deps: EventDeps & { readonly store: Pick<Store, "write"> }, event: SystemEvent): Promise<string> {
  const { sessionKey, write } = systemEventWrite(deps, event);
  await deps.store.write(...write);
  return sessionKey;
}
