import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { GuardRecords } from "../../src/plugins/index.ts";
import { openHost, type SamplePlugin } from "../harness/plugin-host.ts";

/** A place for records that lives longer than a host. */
function records(value: unknown = null): GuardRecords & { value: unknown } {
  return {
    value,
    async read() {
      return this.value;
    },
    async write(next: unknown) {
      this.value = next;
    },
  };
}

const HOOK = `api.on("before_tool_call", () => {});`;
const KNOWN = { police: { rootDir: "/nowhere/police", guards: ["before_tool_call"] } };
const DECLARES = { manifest: { id: "police", configSchema: {}, rest: {}, contracts: { trustedToolPolicies: ["all"] } } };
/** Ten seconds pass at once. */
const quick = { ...systemClock, after: (ms: number, fn: () => void) => systemClock.after(ms === 10_000 ? 20 : ms, fn) };

async function missing(plugins: readonly SamplePlugin[], { known = {}, config = {} }: { readonly known?: object; readonly config?: object } = {}) {
  await using place = await openHost(plugins, { guards: records(known), config, clock: quick });
  return place.host.missingGuards().map(({ pluginId, message }) => `${pluginId}: ${message}`);
}

const FAILURES: readonly (readonly [string, SamplePlugin])[] = [
  ["cannot be parsed", { id: "police", code: "export default function ( {" }],
  ["throws at import", { id: "police", code: `export default () => {}; throw new Error("no")` }],
  ["throws while it registers", { id: "police", code: `${HOOK} throw new Error("no")` }],
  ["never ends registering", { id: "police", code: `export default async (api) => { ${HOOK} await new Promise(() => {}); }` }],
  ["throws when it is activated", { id: "police", code: `export default { register(api) { ${HOOK} }, activate() { throw new Error("no") } }` }],
  ["has settings that do not fit", { id: "police", code: HOOK, error: "invalid config: port: must be a number" }],
  ["has a manifest that cannot be read", { id: "police", code: HOOK, enabled: false, error: "openclaw.plugin.json: not JSON" }],
];

test.each(FAILURES)("a plugin that guarded tool calls when it last ran and now %s makes tools refused", async (_what, plugin) => {
  const found = await missing([plugin, { id: "other", code: "" }], { known: KNOWN });
  expect(found).toEqual([
    expect.stringMatching(/^police: tools are refused: the plugin police guards tool calls \(before_tool_call\) .*plugins\.entries\.police\.required/),
  ]);
});

test.each(FAILURES.slice(0, 6))("so does one that declares a tool policy, has never run, and %s", async (_what, plugin) => {
  expect(await missing([{ ...plugin, ...DECLARES }])).toEqual([expect.stringContaining("(tool policy all)")]);
});

test("one that guards nothing may fail; unless the configuration requires it", async () => {
  const [, plugin] = FAILURES[2]!;
  expect(await missing([plugin])).toEqual([]);
  expect(await missing([plugin], { config: { plugins: { entries: { police: { required: true } } } } })).toEqual([expect.stringContaining("is required")]);
  expect(await missing([plugin], { known: KNOWN, config: { plugins: { entries: { police: { required: false } } } } })).toEqual([]);
});

test.each<[string, object, number]>([
  ["is named in plugins.entries", { entries: { police: { enabled: true } } }, 1],
  ["is named in plugins.allow", { allow: ["police"] }, 1],
  ["was installed", { installs: { police: { source: "path" } } }, 1],
  ["is named nowhere: it was removed", {}, 0],
  ["is turned off", { entries: { police: { enabled: false } } }, 0],
  ["is denied", { deny: ["police"], entries: { police: { enabled: true } } }, 0],
  ["is off with all the others", { enabled: false, entries: { police: { enabled: true } } }, 0],
])("one that is not found any more and %s", async (_what, plugins, count) => {
  expect(await missing([], { known: KNOWN, config: { plugins } })).toHaveLength(count);
});

test("one whose folder is there and may not be used is missed, also when nothing names it", async () => {
  const rootDir = mkdtempSync(join(tmpdir(), "openclaw-plugin-"));
  expect(await missing([], { known: { police: { rootDir, guards: ["before_tool_call"] } } })).toHaveLength(1);
});

test("what a plugin guards with is recorded when it registers, also late, and forgotten when it no longer does", async () => {
  const kept = records();
  const late = `api.registerService({ id: "s", start() { api.on("before_agent_run", () => {}) } })`;
  await using place = await openHost([{ id: "police", code: `${HOOK} api.on("message_sent", () => {}); ${late}` }], {
    guards: kept,
    config: { plugins: { entries: { police: { hooks: { allowConversationAccess: true } } } } },
  });
  expect(kept.value).toMatchObject({ police: { guards: ["before_tool_call"] } });
  await place.host.startServices();
  await expect.poll(() => kept.value).toMatchObject({ police: { guards: ["before_tool_call", "before_agent_run"] } });
  await using _next = await openHost([{ id: "police", code: "" }], { guards: kept });
  expect(kept.value).toEqual({});
});

test("records that cannot be read count as none", async () => {
  for (const known of [[1], { police: 5 }, { police: { rootDir: 1, guards: "x" } }])
    expect(await missing(FAILURES.map(([, plugin]) => plugin).slice(0, 1), { known })).toEqual([]);
});
