import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { makePlace, type Place } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";

/** A plugin that leaves its id behind as soon as anything imports one of its files. */
function plant(place: Place, id: string, folder: string, manifest: object = {}): void {
  mkdirSync(folder, { recursive: true });
  const mark = JSON.stringify(join(place.home, "ran"));
  const code = `import { appendFileSync } from "node:fs";\nappendFileSync(${mark}, ${JSON.stringify(`${id}\n`)});\nexport default function register() {}\n`;
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: { type: "object", properties: {} }, ...manifest }));
  writeFileSync(join(folder, "index.ts"), code);
}

function fixture(plugins: string): Place {
  const place = makePlace();
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "bundled");
  place.configure(`{ gateway: { mode: "local", auth: { token: "${TOKEN}" } }, plugins: ${plugins} }\n`);
  const at = {
    cloned: join(place.stateDir, "workspace/.openclaw/extensions/cloned"),
    bundled: join(place.home, "bundled/bundled"),
    off: join(place.stateDir, "extensions/off"),
    denied: join(place.stateDir, "extensions/denied"),
    on: join(place.stateDir, "extensions/on"),
  };
  for (const [id, folder] of Object.entries(at)) plant(place, id, folder);
  plant(place, "keeper", join(place.stateDir, "extensions/keeper"), { kind: "memory" });
  return place;
}

const ran = (place: Place): string[] => (existsSync(join(place.home, "ran")) ? readFileSync(join(place.home, "ran"), "utf8").trim().split("\n").sort() : []);

const SETTINGS = `{ deny: ["denied"], entries: { off: { enabled: false }, on: { enabled: true } } }`;

test("of all that lies around only the enabled plugin is imported by a gateway", async () => {
  const place = fixture(SETTINGS);
  await using gateway = await place.gateway();
  expect(gateway.url).toBeDefined();
  await gateway.waitFor("1 plugins loaded");
  expect(ran(place)).toEqual(["on"]);
});

test("with plugins turned off nothing is imported at all", async () => {
  const place = fixture(`{ enabled: false, entries: { on: { enabled: true } } }`);
  await using gateway = await place.gateway();
  expect(gateway.url).toBeDefined();
  expect(ran(place)).toEqual([]);
});

describe("commands import no plugin, whatever is enabled", () => {
  test.each([
    ["plugins", "list", "--verbose"],
    ["plugins", "info", "on"],
    ["config", "validate"],
    ["plugins", "enable", "off"],
    ["plugins", "uninstall", "on", "--force"],
  ])("%s %s %s", (...line) => {
    const place = fixture(SETTINGS);
    place.cli(...line.filter((word) => word !== undefined));
    expect(ran(place)).toEqual([]);
  });
});

test("plugins doctor tries the enabled plugin, in a process of its own, and none of the others", () => {
  const place = fixture(SETTINGS);
  place.cli("plugins", "doctor");
  expect(ran(place)).toEqual(["on"]);
});

test("a plugin of a workspace that takes the id of an enabled one is not imported in its place", async () => {
  const place = fixture(`{ entries: { off: { enabled: false } } , deny: ["denied", "keeper"] }`);
  const folder = join(place.stateDir, "workspace/.openclaw/extensions/on");
  mkdirSync(dirname(folder), { recursive: true });
  plant(place, "impostor", folder, { id: "on" });
  await using gateway = await place.gateway();
  await gateway.waitFor("plugins loaded");
  expect(ran(place)).toEqual(["on"]);
});

test("a manifest that cannot be used, or settings that do not fit, keep the code from being imported", async () => {
  const place = fixture(`{ deny: ["denied", "off", "keeper"], entries: { on: { enabled: true, config: { wrong: 1 } } } }`);
  writeFileSync(
    join(place.stateDir, "extensions/on/openclaw.plugin.json"),
    JSON.stringify({ id: "on", configSchema: { type: "object", additionalProperties: false, properties: {} } }),
  );
  plant(place, "broken", join(place.stateDir, "extensions/broken"));
  writeFileSync(join(place.stateDir, "extensions/broken/openclaw.plugin.json"), `{ "id": `);
  await using gateway = await place.gateway();
  expect(gateway.output()).toBeDefined();
  expect(ran(place)).toEqual([]);
});
