import { expect, test } from "vitest";
import { compactionSettings } from "../../src/agent/compaction/settings.ts";
import { BOOTSTRAP_MAX_CHARS, BOOTSTRAP_TOTAL_MAX_CHARS } from "../../src/agent/prompt/injected-files.ts";
import { skillLimits } from "../../src/agent/skills/limits.ts";
import { createWatchdog } from "../../src/gateway/watchdog.ts";
import { DEFAULTS_IN_EFFECT } from "../../src/config/in-effect.ts";
import { validateConfig } from "../../src/config/validate/index.ts";
import { withValue } from "../../src/config/value.ts";
import { DEFAULT_RATE_LIMIT } from "../../src/gateway/auth/settings.ts";
import { readSessionRules } from "../../src/routing/session-keys.ts";
import { queueSettings } from "../../src/sessions/entry/settings.ts";
import { resetPolicy } from "../../src/sessions/entry/reset.ts";
import { DEFAULT_RETENTION } from "../../src/store/index.ts";
import { fetchSettings, searchSettings } from "../../src/tools/builtin/web/settings.ts";
import { configuredExec, execSettings } from "../../src/tools/exec/settings.ts";
import { loopSettings } from "../../src/tools/loop-guard/settings.ts";
import { sandboxSettings } from "../../src/tools/sandbox/settings.ts";

const DAY_MS = 86_400_000;

/** What the code does without a setting. */
function applied(): Record<string, unknown> {
  const { monitor, request } = createWatchdog({}, { stateDir: "", pid: 1 });
  monitor[Symbol.dispose]();
  const queue = queueSettings({}, undefined, undefined);
  const reset = resetPolicy(undefined, { sessionKey: "agent:main:main" });
  const [web, search] = [fetchSettings({}), searchSettings({})];
  const [exec, given] = [configuredExec({}, "main"), execSettings({}, "main")];
  const compaction = compactionSettings();
  const sandbox = sandboxSettings({}, "main", "");
  const { detectors: _, ...loops } = loopSettings({}, "main");
  const within = (prefix: string, values: object): [string, unknown][] => Object.entries(values).map(([key, value]) => [`${prefix}.${key}`, value]);
  return {
    ...Object.fromEntries([
      ...within("skills.limits", skillLimits({})),
      ...within("gateway.auth.rateLimit", DEFAULT_RATE_LIMIT),
      ...within("tools.loopDetection", loops),
      ...within("agents.defaults.sandbox.prune", sandbox.prune),
    ]),
    "agents.defaults.bootstrapMaxChars": BOOTSTRAP_MAX_CHARS,
    "agents.defaults.bootstrapTotalMaxChars": BOOTSTRAP_TOTAL_MAX_CHARS,
    "agents.defaults.compaction.mode": compaction.mode,
    "agents.defaults.compaction.reserveTokensFloor": compaction.reserveTokensFloor,
    "agents.defaults.compaction.memoryFlush.enabled": compaction.memoryFlush.enabled,
    "agents.defaults.compaction.memoryFlush.softThresholdTokens": compaction.memoryFlush.softThresholdTokens,
    "agents.defaults.sandbox.backend": sandbox.backend,
    "agents.defaults.sandbox.mode": sandbox.mode,
    "agents.defaults.sandbox.scope": sandbox.scope,
    "agents.defaults.sandbox.workspaceAccess": sandbox.workspaceAccess,
    "gateway.watchdog.warnSeconds": request?.warnSeconds ?? 5,
    "gateway.watchdog.limitSeconds": request?.limitSeconds ?? 30,
    "messages.queue.mode": queue.mode.value,
    "messages.queue.debounceMs": queue.debounceMs.value,
    "messages.queue.cap": queue.cap.value,
    "messages.queue.drop": queue.drop.value,
    "session.scope": readSessionRules({}).scope,
    "session.dmScope": readSessionRules({}).dmScope,
    "session.reset.mode": reset.mode,
    "session.reset.atHour": reset.atHour,
    "store.retention.inboxDays": DEFAULT_RETENTION.inboxMs / DAY_MS,
    "store.retention.outboxDays": DEFAULT_RETENTION.outboxMs / DAY_MS,
    "store.retention.journalDays": DEFAULT_RETENTION.turnsMs / DAY_MS,
    "store.retention.usageDays": DEFAULT_RETENTION.usageMs / DAY_MS,
    "tools.exec.host": exec.host,
    "tools.exec.security": exec.security,
    "tools.exec.ask": exec.ask,
    "tools.exec.backgroundMs": given.backgroundMs,
    "tools.exec.timeoutSec": given.timeoutMs / 1000,
    "tools.web.fetch.enabled": web.enabled,
    "tools.web.fetch.maxChars": web.maxChars,
    "tools.web.fetch.maxRedirects": web.maxRedirects,
    "tools.web.fetch.timeoutSeconds": web.timeoutMs / 1000,
    "tools.web.fetch.cacheTtlMinutes": web.cacheTtlMs / 60_000,
    "tools.web.search.enabled": search.enabled,
    "tools.web.search.provider": search.provider,
    "tools.web.search.maxResults": search.maxResults,
    "tools.web.search.timeoutSeconds": search.timeoutMs / 1000,
    "tools.web.search.cacheTtlMinutes": search.cacheTtlMs / 60_000,
  };
}

test("the defaults that are shown are those that the code applies", () => {
  expect(DEFAULTS_IN_EFFECT).toMatchObject(applied());
});

test("every default that is shown has a key in the schema that takes it", () => {
  for (const [path, value] of Object.entries(DEFAULTS_IN_EFFECT)) {
    const config = withValue({}, path.split("."), value)?.value;
    expect(
      validateConfig(config).filter(({ severity }) => severity !== "warning"),
      path,
    ).toEqual([]);
  }
});
