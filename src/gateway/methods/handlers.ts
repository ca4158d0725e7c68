import type { OpenClawConfig } from "../../config/index.ts";
import type { HelloOk } from "../../protocol/index.ts";
import type { GatewayHub } from "../create-gateway.ts";
import type { Responder } from "../ports.ts";
import { createTurns } from "../turns.ts";
import { agentHandlers } from "./agent.ts";
import { agentsHandlers } from "./agents.ts";
import { chatHandlers } from "./chat.ts";
import { createRunRelay } from "./chat/run-relay.ts";
import { configHandlers, createWriteBudget, type ConfigDeps } from "./config.ts";
import type { MethodDeps } from "./deps.ts";
import type { Handlers } from "./handler.ts";
import { logsHandlers, type LogsDeps } from "./logs.ts";
import { modelsHandlers, type ModelsPort } from "./models.ts";
import { sessionsHandlers } from "./sessions.ts";
import { keySettings, mainSessionKey } from "./sessions/keys.ts";
import { systemHandlers } from "./system.ts";
import { usageHandlers } from "./usage.ts";

export interface HandlersDeps extends MethodDeps, LogsDeps, Pick<ConfigDeps, "version" | "requestRestart" | "leaveSentinel"> {
  readonly responder: Responder;
  /** Without it `models.list` is not answered. */
  readonly models?: ModelsPort | undefined;
}

/** What clients need to know to name sessions, for `hello-ok`. */
export function sessionDefaults(config: OpenClawConfig): NonNullable<HelloOk["snapshot"]["sessionDefaults"]> {
  const settings = keySettings(config);
  return { ...settings, mainSessionKey: mainSessionKey(settings) };
}

/** Every method that the gateway answers itself. Runs are announced until the gateway stops. */
export function createHandlers(deps: HandlersDeps, hub: Pick<GatewayHub, "broadcast" | "presence" | "stopping">): Handlers {
  const { broadcast, presence, stopping } = hub;
  const relay = createRunRelay({ responder: deps.responder, broadcast, clock: deps.clock });
  stopping.addEventListener("abort", () => relay[Symbol.dispose](), { once: true });
  const chat = { ...deps, relay, broadcast, turns: createTurns() };
  return {
    ...systemHandlers({ ...deps, presence }),
    ...configHandlers({ ...deps, budget: createWriteBudget(deps.clock) }),
    ...sessionsHandlers(chat),
    ...usageHandlers(deps),
    ...logsHandlers(deps),
    ...chatHandlers(chat),
    ...agentHandlers(chat),
    ...agentsHandlers(deps),
    ...(deps.models ? modelsHandlers({ config: deps.config, models: deps.models }) : {}),
  };
}
