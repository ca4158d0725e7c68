import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseDocument } from "../document/index.ts";
import { formatIssue, validateConfig, type ConfigSections, type Issue } from "./index.ts";

const telegram = {
  type: "object",
  additionalProperties: false,
  properties: { botToken: { type: "string" }, dmPolicy: { enum: ["pairing", "open"], default: "pairing" }, accounts: { type: "object" } },
};
const voice = { type: "object", required: ["provider"], properties: { provider: { type: "string" } }, additionalProperties: false };
const sections: ConfigSections = {
  channels: { telegram },
  plugins: { voice },
  knownChannels: ["telegram", "discord"],
  knownPlugins: ["voice", "memory-core"],
};

const found = (value: unknown, over: ConfigSections = {}) => validateConfig(value, { sections: over }).map(formatIssue);
const severities = (issues: readonly Issue[]) => issues.map(({ path, severity }) => `${path.join(".")} ${severity}`);

test("the large example has no issue at all", () => {
  const text = readFileSync(new URL("../../../test/fixtures/config/large-600.json5", import.meta.url), "utf8");
  const document = parseDocument(text, "large-600.json5");
  expect(document.issues).toEqual([]);
  expect(found(document.value)).toEqual([]);
  expect(text.split("\n").length).toBeGreaterThan(590);
});

test("an empty configuration is valid", () => {
  expect(found({}, sections)).toEqual([]);
});

describe("what plugins bring", () => {
  test("a channel is checked with its plugin's schema, at its place", () => {
    expect(found({ channels: { telegram: { bottoken: "1", dmPolicy: "closed" }, discord: { anything: 1 } } }, sections)).toEqual([
      'channels.telegram.bottoken: unknown key "bottoken"; did you mean "botToken"?',
      'channels.telegram.dmPolicy: expected one of "pairing", "open", found the text "closed"',
    ]);
  });

  test("an unknown channel is an error with a suggestion, if the known ones were given", () => {
    const config = { channels: { telegarm: {}, defaults: {} } };
    expect(found(config, sections)).toEqual(['channels.telegarm: unknown channel "telegarm"; did you mean "telegram"?']);
    expect(found(config)).toEqual([]);
  });

  test("a plugin's configuration is checked with its schema", () => {
    expect(found({ plugins: { entries: { voice: { config: { provder: "x" } } } } }, sections)).toEqual([
      'plugins.entries.voice.config: missing key "provider": a text',
      'plugins.entries.voice.config.provder: unknown key "provder"; did you mean "provider"?',
    ]);
  });

  test("the configuration of a disabled plugin is not checked, which is said", () => {
    const issues = validateConfig({ plugins: { entries: { voice: { enabled: false, config: { x: 1 } } } } }, { sections });
    expect(severities(issues)).toEqual(["plugins.entries.voice.config warning"]);
  });

  test("names of plugins that were not found", () => {
    const plugins = { allow: ["voic"], deny: ["gone"], disabled: ["gone"], slots: { memory: "lance" }, entries: { other: {} } };
    expect(severities(validateConfig({ plugins }, { sections }))).toEqual([
      "plugins.allow.0 warning",
      "plugins.deny.0 error",
      "plugins.disabled.0 error",
      "plugins.slots.memory error",
      "plugins.entries.other warning",
    ]);
    expect(found({ plugins: { slots: { memory: "none" } } }, sections)).toEqual([]);
  });

  test("a heartbeat's target must be a channel, last or none", () => {
    const config = (target: string) => ({ agents: { defaults: { heartbeat: { target } } } });
    expect(found(config("telegrm"), sections)).toEqual([
      'agents.defaults.heartbeat.target: unknown heartbeat target: telegrm; expected last, none or a channel id; did you mean "telegram"?',
    ]);
    for (const target of ["last", "none", "discord"]) expect(found(config(target), sections)).toEqual([]);
    expect(found(config("zzz"))).toEqual([expect.stringContaining("unknown heartbeat target: zzz; ")]);
    expect(found({ ...config("own"), channels: { own: {} } })).toEqual([]);
  });
});

test("a binding to an agent that is not there is an error, with and without a list of agents", () => {
  const bindings = [{ agentId: "work", match: { channel: "telegram" } }];
  const listed = validateConfig({ agents: { list: [{ id: "wrok" }] }, bindings });
  expect(severities(listed)).toEqual(["bindings.0.agentId error"]);
  expect(formatIssue(listed[0]!)).toBe('bindings[0].agentId: no agent has the id "work": add it to agents.list, or remove the binding; did you mean "wrok"?');
  expect(severities(validateConfig({ bindings }))).toEqual(["bindings.0.agentId error"]);
});

test.each(["/healthz", "v1", "/v1/hooks", "hooks/../a", "/hooks?x", "a b", "/"])("hooks.path %j is refused: nothing could be sent there", (path) => {
  expect(severities(validateConfig({ hooks: { path } }))).toEqual(["hooks.path error"]);
});

test("a level of thinking that no run could have is refused in a mapping", () => {
  expect(found({ hooks: { path: "/in/hooks/", mappings: [{ thinking: "mega" }] } })).toEqual([
    expect.stringContaining("hooks.mappings[0].thinking: expected one of off, minimal,"),
  ]);
});

describe("what only deserves a warning", () => {
  test.each<[string, unknown]>([
    [
      "agents.list.1.default",
      {
        agents: {
          list: [
            { id: "a", default: true },
            { id: "b", default: true },
          ],
        },
      },
    ],
    ["hooks.allowedAgentIds.0", { hooks: { allowedAgentIds: ["ghost"] } }],
    ["session.mainKey", { session: { mainKey: "other" } }],
    ["cron.sessionRetention", { cron: { sessionRetention: "a while" } }],
    ["gateway.auth.mode", { gateway: { auth: { mode: "password" } } }],
    ["gateway.tailscale.mode", { gateway: { tailscale: { mode: "funnel" } } }],
    ["tools.loopDetection.warningThreshold", { tools: { loopDetection: { warningThreshold: 25 } } }],
    ["agents.defaults.heartbeat.activeHours.timezone", { agents: { defaults: { heartbeat: { activeHours: { timezone: "my zone" } } } } }],
    ["agents.defaults.heartbeat.activeHours.timezone", { agents: { defaults: { heartbeat: { activeHours: { timezone: "Mars/X" } } } } }],
    ["agents.defaults.heartbeat.every", { agents: { defaults: { heartbeat: { every: "1ms" } } } }],
    ["hooks.mappings.0.match.path", { hooks: { mappings: [{ match: { path: "/agent/" } }] } }],
    ["agents.defaults.heartbeat.activeHours.end", { agents: { defaults: { heartbeat: { activeHours: { start: "08:00", end: "8:00" } } } } }],
  ])("%s", (path, config) => {
    expect(severities(validateConfig(config))).toEqual([`${path} warning`]);
  });
});

describe("what is fine", () => {
  test.each<[string, unknown]>([
    ["open direct messages that are confirmed", { channels: { x: { dmPolicy: "open", allowFrom: ["*"] }, y: { dmPolicy: "open", dm: { allowFrom: ["*"] } } } }],
    ["an account that takes the confirmation from its channel", { channels: { x: { allowFrom: ["*"], accounts: { a: { dmPolicy: "open" } } } } }],
    [
      "midnight as the end of active hours",
      { agents: { defaults: { heartbeat: { every: "0m", activeHours: { start: "00:00", end: "24:00", timezone: "Europe/Vienna" } } } } },
    ],
    ["an empty allow list beside alsoAllow", { tools: { allow: [], alsoAllow: ["x"] } }],
    ["a binding to main without a list of agents", { bindings: [{ agentId: "Main", match: { channel: "x" } }] }],
    ["an unknown agent in broadcast without a list of agents", { broadcast: { "1": ["anyone"] } }],
    ["a hook token that is a reference", { hooks: { enabled: true, token: { source: "env", id: "HOOKS_TOKEN" } } }],
    ["an avatar below an absolute workspace", { agents: { list: [{ id: "a", workspace: "/srv/a", identity: { avatar: "/srv/a/me.png" } }] } }],
    [
      "avatars from elsewhere",
      {
        agents: {
          list: [
            { id: "a", identity: { avatar: "https://example.org/a.png" } },
            { id: "b", identity: { avatar: "data:image/png;base64,AA" } },
          ],
        },
      },
    ],
    [
      "a trusted proxy that is complete",
      { gateway: { bind: "lan", trustedProxies: ["10.0.0.2"], auth: { mode: "trusted-proxy", trustedProxy: { userHeader: "x-user" } } } },
    ],
    ["funnel with a password", { gateway: { tailscale: { mode: "funnel" }, auth: { mode: "password", password: "x" } } }],
    ["a postgres store", { store: { url: "postgres://db/openclaw" } }],
    ["an open policy of installs", { security: { installPolicy: { anything: [1] } } }],
  ])("%s", (_name, config) => {
    expect(found(config)).toEqual([]);
  });
});

test("one place is reported once: a rule is silent where the schema spoke", () => {
  const config = { hooks: { mappings: [{ transform: { module: 5 } }] }, gateway: { port: 1.5e9 + 0.5 } };
  expect(found(config)).toHaveLength(2);
});

test("notes of other versions about themselves are accepted; a wrong value beside them is still an error", () => {
  const meta = { lastTouchedVersion: "2026.9.6", migrations: { done: true } };
  expect(found({ meta, wizard: { accessMode: "full", lastRunMode: "local" } })).toEqual([]);
  expect(found({ meta, wizard: { accessMode: "full", lastRunMode: "moon" } })).toEqual([expect.stringMatching(/^wizard\.lastRunMode: expected one of/)]);
});
