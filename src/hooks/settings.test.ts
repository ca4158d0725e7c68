import { expect, test } from "vitest";
import { checkHookAccess, resolveHookSettings } from "./index.ts";

test("an entry of the configuration becomes settings; unknown keys are ignored", () => {
  const hooks = {
    timeoutMs: 30_000,
    timeouts: { agent_end: 60_000, deactivate: 1 },
    failClosed: true,
    allowPromptInjection: false,
    allowConversationAccess: true,
    other: 1,
  };
  expect(resolveHookSettings({ enabled: true, config: { a: 1 }, hooks })).toEqual({
    pluginConfig: { a: 1 },
    timeoutMs: 30_000,
    timeouts: { agent_end: 60_000, gateway_stop: 1 },
    failClosed: true,
    allowPromptInjection: false,
    allowConversationAccess: true,
  });
  expect(resolveHookSettings(undefined)).toEqual({});
});

test.each([0, -1, 1.5, 600_001, "5", null, Number.NaN])("the budget %j is a configuration error that names its path", (value) => {
  const at = "plugins.entries.demo";
  const wrong = (entry: unknown) => () => resolveHookSettings(entry, at);
  expect(wrong({ hooks: { timeoutMs: value } })).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(`${at}.hooks.timeoutMs`) }),
  );
  expect(wrong({ hooks: { timeouts: { agent_end: value } } })).toThrow(`${at}.hooks.timeouts.agent_end`);
});

test("all invalid values are reported together", () => {
  const wrong = { config: 1, hooks: { timeoutMs: 0, timeouts: [], failClosed: "yes" } };
  const paths = ["config", "hooks.timeoutMs", "hooks.timeouts", "hooks.failClosed"].map((key) => `plugins.entries.x.${key}`);
  try {
    resolveHookSettings(wrong, "plugins.entries.x");
    expect.unreachable();
  } catch (error) {
    expect((error as { details: { issues: { path: string }[] } }).details.issues.map((issue) => issue.path)).toEqual(paths);
  }
});

test("access is refused with the key that would allow it", () => {
  expect(checkHookAccess("llm_input", {}, "demo")).toContain("plugins.entries.demo.hooks.allowConversationAccess");
  expect(checkHookAccess("llm_input", { bundled: true }, "demo")).toBeUndefined();
  expect(checkHookAccess("message_sent", {}, "demo")).toBeUndefined();
});
