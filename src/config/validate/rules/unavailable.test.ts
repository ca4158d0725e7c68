import { expect, test } from "vitest";
import { withValue } from "../../value.ts";
import { UNAVAILABLE } from "./unavailable.ts";
import { unavailableFeatures } from "./unavailable.ts";

const warnings = (config: object) => unavailableFeatures(config as Record<string, unknown>);

test.each(UNAVAILABLE.flatMap(({ name, paths }) => paths.map((path) => ({ name, path }))))(
  "$path gives one warning that names the feature",
  ({ name, path }) => {
    const isList = path.startsWith("agents.list.");
    const keys = path.split(".").map((key, index) => (key === "*" ? (isList && index === 2 ? 0 : "x") : key));
    const base = isList ? { agents: { list: [{ id: "main" }] } } : {};
    const value = path.endsWith(".streaming") ? false : "something";
    const config = withValue(base, keys, value)!.value as object;
    expect(warnings(config)).toEqual([
      expect.objectContaining({
        path: keys,
        severity: "warning",
        code: "unavailable",
        message: expect.stringContaining(`${name} is not available in this version`),
      }),
    ]);
  },
);

test("several settings of one feature give one warning that counts them", () => {
  expect(warnings({ discovery: { wideArea: { enabled: true }, mdns: { mode: "full" } } })).toMatchObject([
    {
      path: ["discovery", "wideArea", "enabled"],
      message: "discovery on the network is not available in this version: this setting and 1 more have no effect",
    },
  ]);
});

test.each([
  { cron: { enabled: true, store: "x", maxConcurrentRuns: 2 } },
  { browser: { enabled: false } },
  { hooks: { enabled: false, token: "x" } },
  { hooks: { internal: { enabled: true } } },
  { gateway: { tailscale: { mode: "off", resetOnExit: true } } },
  { agents: { defaults: { heartbeat: { every: "0m", prompt: "x" } } } },
  { plugins: { slots: { contextEngine: "legacy" }, entries: { a: { enabled: true } } } },
  { agents: { defaults: { models: { "a/b": { streaming: true } } } } },
  { agents: { defaults: { subagents: { maxConcurrent: 8 } } } },
  { logging: { redactSensitive: "tools" }, messages: { suppressToolErrors: true }, gateway: { remote: { transport: "direct" } } },
  { update: { checkOnStart: false }, diagnostics: { enabled: false }, gateway: { channelHealthCheckMinutes: 0 } },
])("what is switched off anyway gives none: %j", (config) => {
  expect(warnings(config)).toEqual([]);
});

test.each([
  { logging: { redactSensitive: "off" } },
  { messages: { suppressToolErrors: false } },
  { gateway: { remote: { transport: "ssh" } } },
  { agents: { defaults: { models: { "a/b": { streaming: false } } } } },
])("a value that wants another behaviour than there is gives one: %j", (config) => {
  expect(warnings(config)).toMatchObject([{ code: "unavailable", severity: "warning" }]);
});
