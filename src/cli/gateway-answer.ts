import { isStopped } from "../base/process-identity.ts";
import { planReload, type OpenClawConfig } from "../config/index.ts";

/** What a gateway makes of a change of the file, by the rules of reloading. */
export type GatewayAnswer = "not running" | "takes it over" | "restarts" | "needs a restart" | "reload is off" | "stopped";

const RESTART = "to apply it: openclaw gateway restart";

const SENTENCES: Readonly<Record<GatewayAnswer, string>> = {
  "not running": "the gateway is not running; it applies on the next start",
  "takes it over": "a running gateway applies it without a restart (check: openclaw config diff)",
  restarts: "a running gateway restarts to apply it",
  "needs a restart": `gateway.reload.mode is hot and this needs a restart; ${RESTART}`,
  "reload is off": `gateway.reload.mode is off, so the running gateway does not apply it; ${RESTART}`,
  stopped: "the gateway process is stopped and cannot apply it until it continues",
};

/** `pid`: the process of the gateway, undefined when none runs. `config` is the new one. */
export function gatewayAnswer(pid: number | undefined, paths: readonly string[], config: OpenClawConfig): GatewayAnswer {
  if (pid === undefined) return "not running";
  const mode = config.gateway?.reload?.mode ?? "hybrid";
  const { actions, held = [] } = planReload(paths, mode, Object.keys(config.channels ?? {}));
  if (held.length > 0) return mode === "off" ? "reload is off" : "needs a restart";
  if (isStopped(pid)) return "stopped";
  return actions.some(({ kind }) => kind === "process") ? "restarts" : "takes it over";
}

export function describeAnswer(answer: GatewayAnswer): string {
  return SENTENCES[answer];
}
