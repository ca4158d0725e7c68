import { expect, test } from "vitest";
import { decide, type Subject } from "./entry.ts";
import { pluginSettings } from "./settings.ts";

type Case = [about: string, plugin: Partial<Subject>, plugins: object, enabled: boolean, reason?: string];

const CASES: Case[] = [
  ["plugins.enabled: false turns all off", {}, { enabled: false, allow: ["p"], entries: { p: { enabled: true } } }, false, "plugins disabled"],
  ["deny wins over allow and entries", {}, { deny: ["p"], allow: ["p"], entries: { p: { enabled: true } } }, false, "blocked by denylist"],
  ["deny wins over the memory slot", { kinds: ["memory"] }, { deny: ["p"], slots: { memory: "p" } }, false, "blocked by denylist"],
  ["disabled is another name for deny", {}, { disabled: ["p"] }, false, "blocked by denylist"],
  ["an allow list excludes all others", {}, { allow: ["q"], entries: { p: { enabled: true } } }, false, "not in allowlist"],
  ["an allow list excludes bundled ones too", { origin: "bundled", defaultOn: true }, { allow: ["q"] }, false, "not in allowlist"],
  ["an empty allow list says nothing", {}, { allow: [] }, true],
  ["a configured channel counts as allowed", { origin: "bundled", need: "channel x is configured" }, { allow: ["q"] }, true, "channel x is configured"],
  ["who holds the memory slot is on", { origin: "bundled", kinds: ["memory"] }, { slots: { memory: "p" } }, true, "holds the memory slot"],
  [
    "the slot is stronger than the switch",
    { kinds: ["memory"] },
    { slots: { memory: "p" }, entries: { p: { enabled: false } } },
    true,
    "holds the memory slot",
  ],
  ["the default of the memory slot", { id: "memory-core", origin: "bundled", kinds: ["memory"] }, {}, true, "holds the memory slot"],
  ["an entry turns on", { origin: "bundled" }, { entries: { p: { enabled: true } } }, true, "enabled in config"],
  ["an entry turns off", {}, { entries: { p: { enabled: false } } }, false, "disabled in config"],
  [
    "an entry turns off what is on by default",
    { id: "device-pair", origin: "bundled" },
    { entries: { "device-pair": { enabled: false } } },
    false,
    "disabled in config",
  ],
  ["some bundled plugins are on", { id: "phone-control", origin: "bundled" }, {}, true, "bundled (enabled by default)"],
  ["a bundled plugin whose manifest says so is on", { origin: "bundled", defaultOn: true }, {}, true, "bundled (enabled by default)"],
  ["other bundled plugins are off", { origin: "bundled" }, {}, false, "bundled (disabled by default)"],
  ["being allowed does not turn a bundled plugin on", { origin: "bundled" }, { allow: ["p"] }, false, "bundled (disabled by default)"],
  ["a bundled plugin that the configuration needs is on", { origin: "bundled", need: "channel x is configured" }, {}, true, "channel x is configured"],
  ["an installed plugin is on", { origin: "global" }, {}, true],
  ["a plugin of load.paths is on", { origin: "config" }, {}, true],
  ["a workspace plugin is off", { origin: "workspace" }, {}, false, "workspace plugin (disabled by default)"],
  [
    "an entry without a switch does not name a workspace plugin",
    { origin: "workspace" },
    { entries: { p: { config: {} } } },
    false,
    "workspace plugin (disabled by default)",
  ],
  [
    "the memory slot does not name a workspace plugin",
    { origin: "workspace", kinds: ["memory"] },
    { slots: { memory: "p" } },
    false,
    "workspace plugin (disabled by default)",
  ],
  ["allow names a workspace plugin", { origin: "workspace" }, { allow: ["p"] }, true, "named in config"],
  ["an entry names a workspace plugin", { origin: "workspace" }, { entries: { p: { enabled: true } } }, true, "named in config"],
  [
    "a workspace plugin that is allowed can be turned off",
    { origin: "workspace" },
    { allow: ["p"], entries: { p: { enabled: false } } },
    false,
    "disabled in config",
  ],
  ["memory turned off", { kinds: ["memory"] }, { slots: { memory: "none" }, entries: { p: { enabled: true } } }, false, "memory slot disabled"],
  ["memory kept by another", { kinds: ["memory"] }, { slots: { memory: "q" } }, false, 'memory slot set to "q"'],
  ["memory kept by the default", { kinds: ["memory"] }, {}, false, 'memory slot set to "memory-core"'],
  ["another kind needs no slot", { kinds: ["channel", "context-engine"] }, {}, true],
];

test.each(CASES)("%s", (_about, plugin, plugins, enabled, reason) => {
  const subject: Subject = { id: "p", origin: "global", kinds: [], defaultOn: false, need: undefined, ...plugin };
  expect(decide(subject, pluginSettings({ plugins }))).toEqual(reason === undefined ? { enabled } : { enabled, reason });
});

test("settings of the wrong form are passed over", () => {
  const plugins = { enabled: "no", allow: "p", deny: [1, " "], load: [], slots: { memory: 3 }, entries: { p: 5, q: { enabled: "yes" } }, installs: { x: 1 } };
  const settings = pluginSettings({ plugins });
  expect(settings).toMatchObject({ enabled: true, allow: [], paths: [], memorySlot: "memory-core" });
  expect([settings.deny.size, settings.installs.size, settings.entries.get("q")?.enabled]).toEqual([0, 0, undefined]);
  for (const config of [undefined, null, [], "x", { plugins: [] }]) expect(pluginSettings(config).enabled).toBe(true);
});
