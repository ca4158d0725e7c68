import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { CallContext, ExtraMethods, GatewayHub } from "../../gateway/index.ts";
import { callMethod, type PluginHost } from "../../plugins/index.ts";

/** Who calls, as plugins were always told. */
function clientOf({ caller }: CallContext): { connect: Readonly<Record<string, unknown>>; connId: string; clientIp?: string } {
  const { client, role, scopes, caps, connId, remoteIp } = caller;
  return { connId, connect: { client, role, scopes: [...scopes], caps: [...caps] }, ...(remoteIp === undefined ? {} : { clientIp: remoteIp }) };
}

/** Methods of plugins, for the gateway's dispatcher. */
export function pluginMethods(host: PluginHost, { clock, hub }: { readonly clock: Clock; readonly hub: Pick<GatewayHub, "broadcast"> }): ExtraMethods {
  const { gatewayMethods } = host.registries;
  const context = { broadcast: hub.broadcast };
  return {
    names: () => gatewayMethods.list().map(({ value }) => value.method),
    find(method) {
      const found = gatewayMethods.get(method);
      if (!found) return undefined;
      const { pluginId } = found.owner;
      const onError = (error: unknown): void =>
        host.report({ level: "error", code: "handler-failed", message: `the gateway method ${method} failed: ${messageOf(error)}`, pluginId }, error);
      return {
        access: found.value.access,
        call: (params, call) =>
          callMethod(found, { id: "", params, client: clientOf(call), isWebchat: call.caller.client.mode === "webchat", context }, { clock, onError }),
      };
    },
  };
}
