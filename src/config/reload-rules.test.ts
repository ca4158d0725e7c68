import { expect, test } from "vitest";
import { diffPaths } from "./diff.ts";
import { actionsFor, planReload } from "./reload-rules.ts";

test("differences are paths, lists count whole", () => {
  expect(diffPaths({ a: { b: 1, c: [1, 2] }, d: 1 }, { a: { b: 2, c: [1, 3] }, e: { f: 1 } })).toEqual(["a.b", "a.c", "d", "e"]);
  expect(diffPaths({ a: [{ x: 1 }] }, { a: [{ x: 1 }] })).toEqual([]);
});

test.each([
  ["gateway.reload.mode", [{ kind: "none" }]],
  ["gateway.remote.url", [{ kind: "none" }]],
  ["session.store", [{ kind: "process" }]],
  ["session.dmScope", [{ kind: "none" }]],
  ["gateway.port", [{ kind: "process" }]],
  ["plugins.entries.audit.config.file", [{ kind: "restart", module: "plugins", id: "audit" }]],
  ["plugins.entries.audit.hooks.timeoutMs", [{ kind: "restart", module: "plugins", id: "audit" }]],
  ["plugins.entries.audit.required", [{ kind: "none" }]],
  ["plugins.entries.audit.enabled", [{ kind: "process" }]],
  ["plugins.entries.audit", [{ kind: "process" }]],
  ["gateway.auth.mode", [{ kind: "process" }]],
  ["gateway.nodes.denyCommands", [{ kind: "none" }]],
  ["gateway.nodes.browser.mode", [{ kind: "process" }]],
  ["gateway.auth.token", [{ kind: "hot", module: "auth" }]],
  ["gateway.auth.password.source", [{ kind: "hot", module: "auth" }]],
  [
    "hooks.gmail.account",
    [
      { kind: "restart", module: "gmail" },
      { kind: "hot", module: "hooks" },
    ],
  ],
  ["hooks.token", [{ kind: "hot", module: "hooks" }]],
  ["agents.defaults.heartbeat.every", [{ kind: "restart", module: "heartbeat" }]],
  ["agents.defaults.model.primary", [{ kind: "none" }]],
  ["cron.enabled", [{ kind: "restart", module: "cron" }]],
  ["browser", [{ kind: "restart", module: "browser" }]],
  ["web.enabled", [{ kind: "restart", module: "channels", id: "whatsapp" }]],
  ["channels.whatsapp.allowFrom", [{ kind: "none" }]],
  ["channels.whatsapp.enabled", [{ kind: "restart", module: "channels", id: "whatsapp" }]],
  ["channels.whatsapp.accounts.work.authDir", [{ kind: "restart", module: "channels", id: "whatsapp" }]],
  ["channels.telegram.botToken", [{ kind: "restart", module: "channels", id: "telegram" }]],
  ["channels.twitch.x", [{ kind: "process" }]],
  ["channels.defaults.groupPolicy", [{ kind: "process" }]],
  ["models.providers.x.apiKey", [{ kind: "none" }]],
  ["usage.budgets", [{ kind: "none" }]],
  ["plugins.entries.x", [{ kind: "process" }]],
  ["env.X", [{ kind: "process" }]],
  ["$schema", [{ kind: "process" }]],
  ["hooksy", [{ kind: "process" }]],
])("a change of %s asks for %j", (path, actions) => {
  expect(actionsFor(path, ["telegram", "whatsapp"])).toEqual(actions);
});

test("the first settings of a channel load it where it came with the gateway, whatever its own rules are; another one takes a restart", () => {
  for (const path of ["channels.whatsapp", "channels.whatsapp.allowFrom", "channels.whatsapp.enabled"])
    expect(actionsFor(path, ["telegram"])).toEqual([{ kind: "restart", module: "channels", id: "whatsapp" }]);
  for (const path of ["channels.pager", "channels.pager.token"]) expect(actionsFor(path, ["telegram"])).toEqual([{ kind: "process" }]);
  expect(diffPaths({}, { channels: { irc: { host: "x" } } })).toEqual(["channels.irc"]);
  expect(diffPaths({ channels: { irc: {} }, a: 1 }, { a: 1 })).toEqual(["channels.irc"]);
});

test("hybrid: hot actions, each once; a restart swallows them", () => {
  expect(planReload(["cron.a", "cron.b", "logging.level"], "hybrid", []).actions).toEqual([{ kind: "restart", module: "cron" }]);
  expect(planReload(["cron.a", "gateway.port"], "hybrid", []).actions).toEqual([{ kind: "process" }]);
  expect(planReload([], "restart", [])).toEqual({ paths: [], actions: [] });
});

test("hot leaves what needs a restart; restart restarts for anything; off does nothing", () => {
  expect(planReload(["cron.a", "gateway.port"], "hot", [])).toEqual({
    paths: ["cron.a", "gateway.port"],
    actions: [{ kind: "restart", module: "cron" }],
    held: ["gateway.port"],
    ignored: "config reload requires gateway restart; hot mode ignoring (gateway.port)",
  });
  expect(planReload(["cron.a"], "hot", []).actions).toEqual([{ kind: "restart", module: "cron" }]);
  expect(planReload(["logging.level"], "restart", []).actions).toEqual([{ kind: "process" }]);
  expect(planReload(["models.mode", "gateway.reload.mode"], "off", [])).toMatchObject({ actions: [], held: ["models.mode"] });
  expect(planReload(["gateway.reload.mode"], "off", [])).toEqual({ paths: ["gateway.reload.mode"], actions: [] });
});
