import type { MethodParams } from "../../protocol/index.ts";
import { covers } from "../../protocol/index.ts";
import type { ChannelsPort } from "./channels.ts";
import type { MethodDeps, PresenceBoard } from "./deps.ts";
import type { Handlers } from "./handler.ts";
import { keySettings, mainSessionKey } from "./sessions/keys.ts";
import { lookAtHealth } from "./system/health.ts";
import { readStatus, SYSTEM_EVENTS } from "./system/status.ts";

export interface SystemDeps extends MethodDeps {
  readonly presence: PresenceBoard;
  readonly channels?: Pick<ChannelsPort, "status"> | undefined;
}

/** Texts that a device repeats to say that it is there. */
const BEACON = /^Node:/;

/** Takes in who says so, and keeps the text for the next turn of the main session. A device's beacon is kept only when something changed. */
async function systemEvent(params: MethodParams<"system-event">, deps: SystemDeps): Promise<{ ok: true }> {
  const { presence, store, config, ids } = deps;
  const { idempotencyKey: _key, ...fields } = params;
  const text = params.text.trim();
  const changed = presence.update({ ...fields, text });
  if (text !== "" && (changed || !BEACON.test(text))) {
    const sessionKey = mainSessionKey(keySettings(config.current));
    await store.write("injections.add", { id: ids.uuid(), sessionKey, pluginId: SYSTEM_EVENTS, placement: "system-event", text });
  }
  return { ok: true };
}

/** How the gateway is and who is there. */
export function systemHandlers(deps: SystemDeps): Handlers {
  return {
    // Looks each time; the gateway remembers what was seen for a minute.
    health: () => lookAtHealth(deps),
    status: (_params, { caller }) => readStatus(deps, covers(caller.scopes, "operator.admin")),
    "system-presence": () => deps.presence.list(),
    "system-event": (params) => systemEvent(params, deps),
    // Nothing beats before the room automation is there.
    "last-heartbeat": () => null,
  };
}
