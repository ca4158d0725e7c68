import { loadGatewayTool, type Handlers, type RestartReport, type RestartRequest, type SentinelPayload } from "../../gateway/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/index.ts";
import type { Tool } from "../../tools/index.ts";
import { ownCaller } from "../own-caller.ts";

interface Deps {
  readonly config: Config;
  readonly clock: Clock;
  readonly requestRestart: (request: RestartRequest) => RestartReport;
  readonly leaveSentinel: (payload: SentinelPayload) => Promise<string | null>;
}

/** The tool with which an owner's agent looks after the gateway it runs in. */
export async function gatewayToolFor(deps: Deps, handlers: () => Handlers | undefined): Promise<Tool> {
  const { gatewayTool } = await loadGatewayTool();
  const call = ownCaller(handlers, "gateway-tool");
  return gatewayTool({
    mayRestart: () => deps.config.current.commands?.restart !== false,
    actions: {
      async restart({ sessionKey, note, delayMs, reason }) {
        await deps.leaveSentinel({ kind: "restart", status: "ok", ts: deps.clock.now(), sessionKey, message: note ?? null, doctorHint: null });
        return deps.requestRestart({ reason, delayMs });
      },
      configGet: () => call("config.get", {}),
      configSchema: () => call("config.schema", {}),
      configApply: (change) => call("config.apply", change as never),
      configPatch: (change) => call("config.patch", change as never),
    },
  });
}
