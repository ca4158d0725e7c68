import type { Auth } from "../auth/index.ts";
import type { Broadcast } from "./deps.ts";
import { unavailable, type CallContext, type HandlersOf } from "./handler.ts";

export interface DevicesDeps {
  readonly auth: Pick<Auth, "pairing" | "nodes">;
  readonly broadcast: Broadcast;
}

/** Handlers of `device.*` and `node.pair.*`. Operators are notified about all requests and decisions, also those of other callers. */
export function devicesHandlers({ auth: { pairing, nodes }, broadcast }: DevicesDeps): HandlersOf<"device" | "node"> {
  pairing.onEvent(({ event, payload }) => broadcast(event, payload));
  nodes.onEvent(({ event, payload }) => broadcast(event, payload));
  const by = ({ caller }: CallContext) => ({ scopes: caller.scopes, connId: caller.connId });
  return {
    "device.pair.list": () => pairing.list(),
    "device.pair.approve": ({ requestId }, context) => pairing.approve(requestId, by(context)),
    "device.pair.reject": ({ requestId }) => pairing.reject(requestId),
    "device.pair.remove": ({ deviceId }, context) => pairing.remove(deviceId, by(context)),
    "device.token.rotate": ({ deviceId, role, scopes }, context) => pairing.rotate({ deviceId, role, scopes }, by(context)),
    "device.token.revoke": ({ deviceId, role }, context) => pairing.revoke({ deviceId, role }, by(context)),
    "node.pair.request": async (params) => ({ status: "pending", ...(await nodes.request(params)) }),
    "node.pair.list": () => nodes.list(),
    "node.pair.approve": ({ requestId }) => nodes.approve(requestId),
    "node.pair.reject": ({ requestId }) => nodes.reject(requestId),
    "node.pair.verify": ({ nodeId, token }) => nodes.verify(nodeId, token),
    ...unavailable("node.list", "node.describe", "node.invoke", "node.event"),
    "node.rename": ({ nodeId, displayName }) => nodes.rename(nodeId, displayName),
  };
}
