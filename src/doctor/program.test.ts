import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeDoctorPlace, modelsWith, NOW, type DoctorPlace, type PlaceOptions } from "./place.fixture.ts";

function place(options: PlaceOptions = {}): DoctorPlace {
  const made = makeDoctorPlace({ config: "{}", ...options });
  onTestFinished(made.remove);
  return made;
}

function buildUi(here: DoctorPlace, version: string): void {
  mkdirSync(join(here.home, "ui/assets"), { recursive: true });
  writeFileSync(join(here.home, "ui/index.html"), `<script type="module" src="./assets/index-abcdefgh.js"></script>`);
  writeFileSync(join(here.home, "ui/assets/index-abcdefgh.js"), `const version = "${version}";`);
}

test("a Node that is too old", async () => {
  expect(await place().look(["program.node"], { nodeVersion: "22.1.0" })).toMatchObject([{ level: "error", text: expect.stringContaining("22.1.0") }]);
});

test("the page in the browser: missing, of another version, not whole, or not wanted", async () => {
  const here = place();
  const id = async (): Promise<string> => (await here.look(["program.ui"]))[0]!.id;
  expect(await id()).toBe("program.ui:missing");
  buildUi(here, "0.9.0");
  expect(await id()).toBe("program.ui:version");
  buildUi(here, "1.0.0");
  expect(await here.look(["program.ui"])).toMatchObject([{ level: "ok" }]);
  writeFileSync(join(here.home, "ui/index.html"), `<script src="./assets/gone-abcdefgh.js"></script>`);
  expect(await id()).toBe("program.ui:broken");
  expect(await place({ config: `{ gateway: { controlUi: { enabled: false } } }` }).look(["program.ui"])).toMatchObject([{ level: "ok" }]);
});

test("a browser that is used and not installed is named with how to install it", async () => {
  const look = (config: string) => place({ config, env: { PATH: "/no/such/folder" } }).look(["program.browser"], { platform: "darwin" });
  expect(await look("{}")).toMatchObject([{ level: "ok" }]);
  expect(await look(`{ browser: { enabled: false } }`)).toMatchObject([{ level: "ok" }]);
  expect(await look(`{ browser: { cdpUrl: "http://127.0.0.1:9222" } }`)).toMatchObject([{ level: "ok" }]);
  const missing = { level: "warn", todo: expect.stringContaining("brew install --cask google-chrome") };
  expect(await look(`{ browser: { headless: true } }`)).toMatchObject([missing]);
  expect(await look(`{ tools: { alsoAllow: ["browser"] } }`)).toMatchObject([missing]);
  expect(await look(`{ browser: { executablePath: "/no/such/browser" } }`)).toMatchObject([{ text: expect.stringContaining("/no/such/browser") }]);
});

test("variables under old names, and what they are called now", async () => {
  const here = place({ env: { CLAWDBOT_GATEWAY_PORT: "1", MOLTBOT_X: "1", OPENCLAW_X: "2" } });
  expect((await here.look(["program.variables"])).map(({ todo }) => todo)).toEqual(["use OPENCLAW_GATEWAY_PORT instead", "remove it: OPENCLAW_X is set"]);
});

test("a file from the future says that the clock is wrong", async () => {
  const here = place();
  expect(await here.look(["program.clock"])).toMatchObject([{ level: "ok" }]);
  const later = NOW / 1000 + 7200;
  utimesSync(here.configPath, later, later);
  expect(await here.look(["program.clock"])).toMatchObject([{ level: "warn", text: expect.stringMatching(/openclaw\.json .*(?:2h|1h 59m)/) }]);
});

test.each([
  ["Europe/Berlin", "ok"],
  ["CET-1CEST", "ok"],
  [":UTC", "ok"],
  ["Mars/Olympus", "warn"],
])("the time zone %s", async (zone, level) => {
  expect(await place({ env: { TZ: zone } }).look(["program.time-zone"])).toMatchObject([{ level }]);
});

test("a user's time zone that nobody knows", async () => {
  const here = place({ config: `{ agents: { defaults: { userTimezone: "Berlin" } } }` });
  expect(await here.look(["program.time-zone"])).toMatchObject([{ id: "program.time-zone:agents.defaults.userTimezone", level: "warn" }]);
});

test("models: no key at all, a key that is missing, and one that cannot answer as asked", async () => {
  const here = place();
  expect(await here.look(["models.default"])).toMatchObject([{ level: "ok" }]);
  expect(await here.look(["models.default"], { models: modelsWith({ source: "offline", model: "builtin/offline" }) })).toMatchObject([
    { id: "models.default:offline", level: "info" },
  ]);
  expect(await here.look(["models.default"], { models: modelsWith({ problemWith: () => "Unknown model: acme/nosuch" }) })).toMatchObject([
    { id: "models.default:unknown", level: "error", text: "Unknown model: acme/nosuch" },
  ]);
  expect(await here.look(["models.default"], { models: modelsWith({ missing: ["openai"], warnings: ["unknown model"] }) })).toMatchObject([
    { level: "warn", text: "unknown model" },
    { id: "models.default:openai", level: "error", todo: expect.stringContaining("--provider openai") },
  ]);
});

test("keys that rest, are over, or will be soon", async () => {
  const models = modelsWith({
    resting: [
      { profileId: "a", kind: "cooldown", why: "rate_limit", remainingMs: 60_000 },
      { profileId: "b", kind: "unusable", why: "empty" },
    ],
    logins: [
      { profileId: "c", renews: false, status: "expired" },
      { profileId: "d", renews: true, status: "expired" },
      { profileId: "e", renews: false, status: "expiring", remainingMs: 3_600_000 },
      { profileId: "f", renews: false, status: "ok" },
    ],
  });
  expect((await place().look(["models.keys"], { models })).map(({ id, level }) => `${id} ${level}`)).toEqual([
    "models.keys:a warn",
    "models.keys:b warn",
    "models.keys:c error",
    "models.keys:d info",
    "models.keys:e warn",
  ]);
});

test("models are not looked at under a configuration with errors", async () => {
  const models = (): never => {
    throw new Error("they were");
  };
  expect(await place({ config: "{ gateway: 1 }" }).look(["models.keys", "models.default"], { models })).toMatchObject([{ level: "info" }, { level: "info" }]);
});

test("the model of Gmail hooks, and the one that searches memory", async () => {
  const here = place({ config: `{ hooks: { gmail: { model: "a/b" } }, agents: { defaults: { memorySearch: { provider: "gemini" } } } }` });
  const checks = ["hooks.gmail-model", "memory.search"];
  expect(await here.look(checks)).toMatchObject([{ level: "ok" }, { level: "ok" }]);
  const models = modelsWith({ problemWith: () => "nobody knows it", hasCredential: (provider) => provider !== "google" });
  expect(await here.look(checks, { models })).toMatchObject([
    { level: "warn", text: "hooks.gmail.model: nobody knows it" },
    { level: "warn", todo: expect.stringContaining("google") },
  ]);
});

test("a gateway that is silent, ill, of another version, elsewhere, or not running", async () => {
  const here = place();
  const holder = { pid: 1, createdAt: "", configPath: "", stateDir: "" };
  const health = {
    ok: true,
    status: "degraded" as const,
    version: "0.9.0",
    pid: 1,
    startedAt: "",
    uptimeMs: 1,
    problems: ["the disk is full"],
    config: { path: "", source: "file" as const, issues: [] },
    store: {},
  };
  const ids = async (over: Parameters<DoctorPlace["look"]>[1]): Promise<string[]> =>
    (await here.look(["gateway.health"], over)).map(({ id, level }) => `${id} ${level}`);
  expect(await ids({})).toEqual(["gateway.health:stopped info"]);
  expect(await ids({ probe: () => Promise.resolve({ holder, reachable: false, error: "timeout" }) })).toEqual(["gateway.health:silent error"]);
  expect(await ids({ probe: () => Promise.resolve({ holder, reachable: true, health }) })).toEqual([
    "gateway.health:problem warn",
    "gateway.health:version warn",
  ]);
  const accounts = (): Promise<{ channel: string; accountId: string; text: string }[]> =>
    Promise.resolve([{ channel: "irc", accountId: "default", text: "refused" }]);
  expect(await here.look(["channels.accounts"], { accounts, probe: () => Promise.resolve({ holder, reachable: true, health }) })).toMatchObject([
    { text: "irc (default): refused", todo: "openclaw channels status --probe" },
  ]);
});

test("what a channel's rules found is shown with what to do about it", async () => {
  const here = place({ config: `{ channels: { irc: {} } }` });
  const found = { channel: "irc", accountId: "work", id: "settings", level: "error" as const, message: "no server", fix: "openclaw channels add" };
  expect(await here.look(["channels.rules"], { channelRules: () => Promise.resolve([found]) })).toMatchObject([
    { id: "channels.rules:irc.work.settings", level: "error", text: "irc (work): no server", todo: "openclaw channels add" },
  ]);
});

test("tips about the workspace can be turned off", async () => {
  const here = place();
  mkdirSync(join(here.state, "workspace"), { recursive: true });
  expect((await here.look(["workspace.tips"])).map(({ level }) => level)).toEqual(["info", "info"]);
  expect(await here.look(["workspace.tips"], { suggestions: false })).toMatchObject([{ level: "ok" }]);
});
