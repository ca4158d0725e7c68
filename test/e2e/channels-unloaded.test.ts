/** Channels that are configured and off cost nothing: neither their code nor their libraries are loaded. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTelegram } from "../fakes/telegram/index.ts";
import { allButOneOff } from "../harness/configured-channels.ts";
import { makePlace, type Place, ROOT } from "../harness/gateway-process.ts";

/** Libraries of WhatsApp and IRC; that of Telegram is grammy, and the others have none. */
const LIBRARIES = /\/node_modules\/(?:baileys|libsignal|uqr|irc-framework)\//;

let place: Place;
beforeEach(() => void (place = makePlace()));
afterEach(() => rmSync(place.home, { recursive: true, force: true }));

function loadedIn(file: string): readonly string[] {
  return readFileSync(file, "utf8").split("\n");
}

test("with nine channels configured and one of them on, only that plugin is loaded, and no library of the others", async () => {
  await using telegram = await startTelegram();
  const channels = { ...allButOneOff("telegram"), telegram: { enabled: true, botToken: telegram.token, apiRoot: telegram.apiRoot } };
  expect(Object.keys(channels)).toHaveLength(9);
  place.configure(JSON.stringify({ channels }));
  const file = join(place.home, "loaded");
  const hooks = pathToFileURL(join(ROOT, "test/harness/loaded-files.mjs")).href;
  await using gateway = await place.gateway({ env: { NODE_OPTIONS: `--import=${hooks}`, OPENCLAW_TEST_LOADED: file } });
  expect(gateway.url, gateway.output()).toBeDefined();
  await expect.poll(() => telegram.polling, { timeout: 30_000, interval: 50 }).toBe(true);
  const loaded = loadedIn(file);
  expect(gateway.output()).toContain("1 plugins loaded");
  expect(
    loaded.some((url) => url.includes("/node_modules/grammy/")),
    "the library of the one that is on",
  ).toBe(true);
  expect(loaded.filter((url) => LIBRARIES.test(url))).toEqual([]);
});

test("the libraries are found where they are used: a channel that is on loads its own", async () => {
  place.configure(JSON.stringify({ channels: allButOneOff("irc") }));
  const file = join(place.home, "loaded");
  const hooks = pathToFileURL(join(ROOT, "test/harness/loaded-files.mjs")).href;
  await using gateway = await place.gateway({ env: { NODE_OPTIONS: `--import=${hooks}`, OPENCLAW_TEST_LOADED: file } });
  expect(gateway.url, gateway.output()).toBeDefined();
  await expect.poll(() => loadedIn(file).some((url) => LIBRARIES.test(url)), { timeout: 30_000, interval: 50 }).toBe(true);
});
