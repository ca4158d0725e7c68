import { loadGatewayTool, type Handlers, type RestartReport, type RestartRequest, type SentinelPayload } from "../../gateway/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/index.ts";
import type { Tool } from "../../tools/index.ts";

interface Deps {
  readonly config: Config;
  readonly clock: Clock;
  readonly requestRestart: (request: RestartRequest) => RestartReport;
  readonly leaveSentinel: (payload: SentinelPayload) => Promise<string | null>;
}

/** Calls the gateway's own handler, as its `gateway` tool does. */
function ownCaller(handlers: () => Handlers | undefined) {
  const caller = {
    connId: "gateway-tool",
    role: "operator",
    scopes: new Set(["operator.admin"]),
    client: { id: "gateway-tool", mode: "backend", version: "", platform: process.platform },
    caps: new Set<string>(),
    local: true,
  } as const;
  return async (method: keyof Handlers, params: object): Promise<unknown> => {
    const handler = handlers()?.[method] as ((params: object, context: object) => unknown) | undefined;
    if (!handler) throw new Error(`the gateway does not answer ${method}`);
    return handler(params, { caller, signal: new AbortController().signal, accepted: () => {} });
  };
}

/** The tool with which an owner's agent looks after the gateway it runs in. */
export async function gatewayToolFor(deps: Deps, handlers: () => Handlers | undefined): Promise<Tool> {
  const { gatewayTool } = await loadGatewayTool();
  const call = ownCaller(handlers);
  return gatewayTool({
    mayRestart: () => deps.config.current.commands?.restart !== false,
    actions: {
      async restart({ sessionKey, note, delayMs, reason }) {
        await deps.leaveSentinel({ kind: "restart", status: "ok", ts: deps.clock.now(), sessionKey, message: note ?? null, doctorHint: null });
        return deps.requestRestart({ reason, delayMs });
      },
      configGet: () => call("config.get", {}) as never,
      configSchema: () => call("config.schema", {}) as never,
      configApply: (change) => call("config.apply", change) as never,
      configPatch: (change) => call("config.patch", change) as never,
    },
  });
}
