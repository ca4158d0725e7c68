import { expect, test } from "vitest";
import { isSensitivePath } from "../../config/index.ts";
import { fixture } from "./inventory.fixture.ts";
import { configSections, describedSections } from "./index.ts";

const hints = { key: { label: "Key", sensitive: true }, "pins[].code": { sensitive: true }, "byName.*": { sensitive: true } };
const channel = { schema: { type: "object", properties: { nest: { type: "string" } } }, uiHints: { nest: { sensitive: true } } };

async function found() {
  const at = fixture();
  at.plugin("global", "on", { name: "On", uiHints: hints });
  at.plugin("global", "off", { uiHints: { port: { sensitive: true } } });
  at.plugin("bundled", "waits", { name: "Waits", description: "For a nest.", channels: ["bird"], channelConfigs: { bird: { ...channel, label: "Bird" } } });
  at.plugin("bundled", "denied", { channels: ["fish"], channelConfigs: { fish: channel } });
  return at.read({ plugins: { deny: ["denied"], entries: { off: { enabled: false } } } });
}

test("only plugins that are on are checked; what is secret is known of all", async () => {
  const sections = configSections((await found()).entries);
  expect([Object.keys(sections.plugins!), Object.keys(sections.channels!)]).toEqual([["on"], []]);
  const config = (id: string, ...path: (string | number)[]) => isSensitivePath(["plugins", "entries", id, "config", ...path], sections);
  expect([config("on", "key"), config("on", "pins", 3, "code"), config("on", "byName", "x"), config("off", "port")]).toEqual([true, true, true, true]);
  expect([config("on", "port"), config("on", "pins", 3), config("on", "byName"), config("off", "other")]).toEqual([false, false, false, false]);
  expect(["bird", "fish"].map((id) => isSensitivePath(["channels", id, "nest"], sections))).toEqual([true, true]);
});

test("forms have the names of plugins that are on and of channels that can be set up", async () => {
  const { texts = [] } = describedSections((await found()).entries);
  expect(texts.map(({ kind, id, label, help }) => ({ kind, id, label, help }))).toEqual([
    { kind: "channels", id: "bird", label: "Bird", help: "For a nest." },
    { kind: "plugins", id: "on", label: "On", help: undefined },
  ]);
});

test("a channel that only its code describes is shown and its secrets are kept, but nothing is checked against it", async () => {
  const plugin = {
    meta: { label: "Gull", blurb: "Cries." },
    configSchema: { schema: { type: "object", properties: { song: { type: "string" } } }, uiHints: { song: { sensitive: true } } },
  };
  const broken = { configSchema: { schema: { toJSON: () => 1 } } };
  const looped: Record<string, unknown> = {};
  looped["schema"] = { looped };
  const registered = [
    { id: "gull", plugin },
    { id: "broken", plugin: broken },
    { id: "looped", plugin: { configSchema: looped } },
    { id: "plain", plugin: {} },
    { id: "bird", plugin },
  ];
  const sections = describedSections((await found()).entries, registered);
  expect(sections.channels).toEqual({});
  expect(sections.texts?.filter(({ kind }) => kind === "channels").map(({ id, label }) => `${id}: ${label}`)).toEqual(["bird: Bird", "gull: Gull"]);
  expect([isSensitivePath(["channels", "gull", "song"], sections), isSensitivePath(["channels", "bird", "song"], sections)]).toEqual([true, false]);
});
