import { agentWorkspace } from "./agent-workspace.ts";
import { DEFAULT_GATEWAY_PORT, gatewayPort, type PathContext } from "./paths.ts";
import type { OpenClawConfig } from "./schema/index.ts";
import { isObject, valueAt, withValue } from "./value.ts";

/**
 * What the gateway assumes for keys that a file leaves out, by path. Data for people: the code that reads a key applies its default itself, and a test
 * compares the two.
 */
export const DEFAULTS_IN_EFFECT: Readonly<Record<string, string | number | boolean>> = {
  "agents.defaults.bootstrapMaxChars": 20_000,
  "agents.defaults.bootstrapTotalMaxChars": 150_000,
  "agents.defaults.compaction.memoryFlush.enabled": true,
  "agents.defaults.compaction.memoryFlush.softThresholdTokens": 4000,
  "agents.defaults.compaction.mode": "safeguard",
  "agents.defaults.compaction.reserveTokensFloor": 20_000,
  "agents.defaults.imageMaxDimensionPx": 1200,
  "agents.defaults.mediaMaxMb": 5,
  "agents.defaults.sandbox.backend": "docker",
  "agents.defaults.sandbox.mode": "off",
  "agents.defaults.sandbox.prune.idleHours": 24,
  "agents.defaults.sandbox.prune.maxAgeDays": 7,
  "agents.defaults.sandbox.scope": "agent",
  "agents.defaults.sandbox.workspaceAccess": "none",
  "agents.defaults.timeoutSeconds": 600,
  "gateway.auth.rateLimit.exemptLoopback": true,
  "gateway.auth.rateLimit.lockoutMs": 300_000,
  "gateway.auth.rateLimit.maxAttempts": 10,
  "gateway.auth.rateLimit.windowMs": 60_000,
  "gateway.bind": "loopback",
  "gateway.port": DEFAULT_GATEWAY_PORT,
  "gateway.reload.debounceMs": 300,
  "gateway.reload.mode": "hybrid",
  "gateway.watchdog.limitSeconds": 30,
  "gateway.watchdog.warnSeconds": 5,
  "logging.consoleLevel": "info",
  "logging.level": "info",
  "logging.maxFileBytes": 52_428_800,
  "logging.redactSensitive": "tools",
  "messages.queue.cap": 20,
  "messages.queue.debounceMs": 1000,
  "messages.queue.drop": "summarize",
  "messages.queue.mode": "collect",
  "models.mode": "merge",
  "session.dmScope": "main",
  "session.reset.atHour": 4,
  "session.reset.mode": "daily",
  "session.scope": "per-sender",
  "skills.limits.maxCandidatesPerRoot": 300,
  "skills.limits.maxSkillFileBytes": 256_000,
  "skills.limits.maxSkillsInPrompt": 150,
  "skills.limits.maxSkillsLoadedPerSource": 200,
  "skills.limits.maxSkillsPromptChars": 30_000,
  "store.retention.inboxDays": 14,
  "store.retention.journalDays": 14,
  "store.retention.mediaDays": 7,
  "store.retention.mediaMb": 2048,
  "store.retention.outboxDays": 14,
  "store.retention.usageDays": 400,
  "tools.exec.ask": "on-miss",
  "tools.exec.backgroundMs": 10_000,
  "tools.exec.host": "sandbox",
  "tools.exec.security": "allowlist",
  "tools.exec.timeoutSec": 1800,
  "tools.loopDetection.criticalThreshold": 20,
  "tools.loopDetection.enabled": false,
  "tools.loopDetection.globalCircuitBreakerThreshold": 30,
  "tools.loopDetection.historySize": 30,
  "tools.loopDetection.warningThreshold": 10,
  "tools.web.fetch.cacheTtlMinutes": 15,
  "tools.web.fetch.enabled": true,
  "tools.web.fetch.maxChars": 50_000,
  "tools.web.fetch.maxRedirects": 3,
  "tools.web.fetch.timeoutSeconds": 30,
  "tools.web.search.cacheTtlMinutes": 15,
  "tools.web.search.enabled": true,
  "tools.web.search.maxResults": 5,
  "tools.web.search.provider": "brave",
  "tools.web.search.timeoutSeconds": 30,
};

/** An older key that says the same takes the place of the newer one's defaults. */
function isReplaced(path: string, config: OpenClawConfig): boolean {
  if (path.startsWith("session.reset.")) return config.session?.idleMinutes !== undefined && !config.session.reset;
  if (path === "agents.defaults.sandbox.scope") return config.agents?.defaults?.sandbox?.perSession !== undefined;
  return false;
}

/** A configuration with the defaults in effect where it has nothing. For showing; nothing is run with it. */
export function configInEffect(config: OpenClawConfig, context: PathContext): OpenClawConfig {
  const { env } = context;
  const computed: Record<string, unknown> = {
    ...DEFAULTS_IN_EFFECT,
    "agents.defaults.workspace": agentWorkspace({ agents: { defaults: config.agents?.defaults ?? {} } }, context, "main"),
  };
  let shown: unknown = config;
  for (const [dotted, value] of Object.entries(computed)) {
    const path = dotted.split(".");
    const isOpen = path.every((_, index) => {
      const above = valueAt(shown, path.slice(0, index));
      return above === undefined || isObject(above);
    });
    if (isOpen && valueAt(shown, path) === undefined && !isReplaced(dotted, config)) shown = withValue(shown, path, value)?.value ?? shown;
  }
  // A variable wins over the file.
  return (withValue(shown, ["gateway", "port"], gatewayPort(env, { config: config.gateway?.port }))?.value ?? shown) as OpenClawConfig;
}
