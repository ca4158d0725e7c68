import type { Ids } from "../base/ids.ts";
import type { Config } from "../config/index.ts";
import type { Store } from "../store/index.ts";
import { canonicalKey, keySettings, mainSessionKey } from "./methods/sessions/keys.ts";
import { SYSTEM_EVENTS } from "./methods/system/status.ts";

/** Something that the next turn of a session is told. */
export interface SystemEvent {
  readonly text: string;
  /** As somebody wrote it; without one, or with one that names no session, it is the main session. */
  readonly sessionKey?: string | undefined;
  /** The same event queued again under its key counts once. */
  readonly idempotencyKey?: string;
}

/** Queues an event, on disk. Gives the session that will be told. */
export async function queueSystemEvent(
  deps: { readonly config: Pick<Config, "current">; readonly store: Pick<Store, "write">; readonly ids: Ids },
  event: SystemEvent,
): Promise<string> {
  const { current } = deps.config;
  let sessionKey = mainSessionKey(keySettings(current));
  try {
    if (event.sessionKey !== undefined) sessionKey = canonicalKey(event.sessionKey, current);
  } catch {
    // A key that cannot be read names nobody: the main session is told instead.
  }
  const { text, idempotencyKey } = event;
  await deps.store.write("injections.add", { id: deps.ids.uuid(), sessionKey, pluginId: SYSTEM_EVENTS, placement: "system-event", text, idempotencyKey });
  return sessionKey;
}
