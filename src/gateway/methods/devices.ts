import type { Auth } from "../auth/index.ts";
import type { Broadcast } from "./deps.ts";
import type { CallContext, HandlersOf } from "./handler.ts";

export interface DevicesDeps {
  readonly auth: Pick<Auth, "pairing" | "nodes">;
  readonly broadcast: Broadcast;
}

/** Methods of nodes that are about who is paired. */
type NodePairing = Pick<
  HandlersOf<"node">,
  "node.pair.request" | "node.pair.list" | "node.pair.approve" | "node.pair.reject" | "node.pair.remove" | "node.pair.verify"
>;

/** Handlers of `device.*` and `node.pair.*`. Operators are notified about all requests and decisions, also those of other callers. */
export function devicesHandlers({ auth: { pairing, nodes }, broadcast }: DevicesDeps): HandlersOf<"device"> & NodePairing {
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
    "node.pair.remove": ({ nodeId }) => nodes.remove(nodeId),
    "node.pair.verify": ({ nodeId, token }) => nodes.verify(nodeId, token),
  };
}
