import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { pluginFiles } from "../harness/install-place.ts";
import { killAt, runCommand } from "../harness/program.ts";

const PLACES = [
  "plugins.staged",
  "plugins.change.begun",
  "plugins.change.aside",
  "plugins.change.swapped",
  "config.written",
  "plugins.change.recorded",
] as const;

function fixture(): Place {
  const place = makePlace();
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  place.configure("{}\n");
  for (const version of ["1.0.0", "2.0.0"]) {
    const folder = join(place.home, `voice-${version}`);
    mkdirSync(folder);
    for (const [name, content] of Object.entries(pluginFiles("voice", { version }))) writeFileSync(join(folder, name), content);
  }
  return place;
}

interface Listed {
  readonly plugins: readonly { readonly id: string; readonly version: string }[];
}

/** What the next command sees: the version in the files, and the one in the record. */
function seen(place: Place): { files: string | undefined; record: string | undefined; left: string[] } {
  const { plugins } = JSON.parse(place.cli("plugins", "list", "--json").stdout) as Listed;
  const config = JSON.parse(place.cli("config", "get", "plugins.installs", "--json").stdout || "{}") as Record<string, { version?: string }>;
  const left = readdirSync(join(place.stateDir, "extensions")).filter((name) => name !== "voice");
  return { files: plugins.find(({ id }) => id === "voice")?.version, record: config["voice"]?.version, left };
}

const both = (version: string | undefined): ReturnType<typeof seen> => ({ files: version, record: version, left: [] });

describe.each(PLACES)("killed at %s", (failpoint) => {
  test("a first install is there in full or not at all", () => {
    const place = fixture();
    killAt(failpoint, place, ["plugins", "install", "./voice-1.0.0"]);
    expect([both(undefined), both("1.0.0")]).toContainEqual(seen(place));
    expect(runCommand(place, ["plugins", "install", "./voice-1.0.0", "--force"]).code).toBe(0);
    expect(seen(place)).toEqual(both("1.0.0"));
  });

  test("a newer version is in the place of the older one or not at all", () => {
    const place = fixture();
    expect(place.cli("plugins", "install", "./voice-1.0.0").code).toBe(0);
    killAt(failpoint, place, ["plugins", "install", "./voice-2.0.0", "--force"]);
    expect([both("1.0.0"), both("2.0.0")]).toContainEqual(seen(place));
  });
});

describe.each(PLACES.slice(1))("killed at %s", (failpoint) => {
  test("an uninstall is complete or has not begun", () => {
    const place = fixture();
    expect(place.cli("plugins", "install", "./voice-1.0.0").code).toBe(0);
    killAt(failpoint, place, ["plugins", "uninstall", "voice", "--force"]);
    expect([both(undefined), both("1.0.0")]).toContainEqual(seen(place));
  });
});

test("a gateway that starts after a kill sees one or the other", async () => {
  const place = fixture();
  place.configure(`{ gateway: { mode: "local", auth: { token: "a-token-of-this-test-0123456789" } } }\n`);
  expect(place.cli("plugins", "install", "./voice-1.0.0").code).toBe(0);
  killAt("plugins.change.aside", place, ["plugins", "install", "./voice-2.0.0", "--force"]);
  await using gateway = await place.gateway();
  expect(gateway.url).toBeDefined();
  await gateway.waitFor("1 plugins loaded");
  expect(readFileSync(join(place.stateDir, "extensions/voice/package.json"), "utf8")).toContain("1.0.0");
});
