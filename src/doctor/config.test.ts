import { readdirSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { makeDoctorPlace, type DoctorPlace, type PlaceOptions } from "./place.fixture.ts";

function place(config: string | undefined, options: PlaceOptions = {}): DoctorPlace {
  const made = makeDoctorPlace({ ...options, ...(config === undefined ? {} : { config }) });
  onTestFinished(made.remove);
  return made;
}

const CONFIG = ["config.file", "config.keys", "config.legacy", "config.remarks"];

test("a configuration that is right has nothing to repair", async () => {
  const outcomes = await place(`{ gateway: { mode: "local" } }`).look(CONFIG);
  expect(outcomes.map(({ id, level }) => [id, level])).toEqual(CONFIG.map((id) => [id, "ok"]));
});

test("a file that is not there is no error", async () => {
  expect(await place(undefined).look(["config.file"])).toMatchObject([{ id: "config.file:missing", level: "info", todo: "openclaw onboard" }]);
});

test("errors are reported with their line and left for the user to fix", async () => {
  const here = place(`{\n  gateway: { port: "high" }\n}`);
  const [outcome] = await here.look(["config.file"], { fix: true });
  expect(outcome).toMatchObject({ level: "error", text: expect.stringContaining("openclaw.json:2:"), todo: expect.stringContaining("line 2") });
  expect(here.read(here.configPath)).toContain(`"high"`);
});

test("a file that does not parse is an error with its place", async () => {
  const here = place(`{ gateway: `);
  expect(await here.look(["config.file"], { fix: true })).toMatchObject([{ id: "config.file:syntax", level: "error" }]);
  expect(here.read(here.configPath)).toBe(`{ gateway: `);
});

test("unknown keys are taken out, each is named, comments stay, and the version before is kept", async () => {
  const text = `// mine\n{\n  // how\n  gateway: { mode: "local", prot: 1 },\n  nonsense: { a: [1] },\n}\n`;
  const here = place(text);
  expect(await here.look(["config.keys"])).toMatchObject([{ level: "error", text: expect.stringMatching(/gateway\.prot.*nonsense/), repair: { safe: false } }]);
  expect(here.read(here.configPath)).toBe(text);
  const [fixed] = await here.look(["config.keys"], { fix: true });
  expect(fixed).toMatchObject({ level: "ok", repaired: expect.stringMatching(/gateway\.prot, nonsense.*\.bak/) });
  const after = here.read(here.configPath);
  expect(after).toMatch(/^\/\/ mine\n\{\n {2}\/\/ how\n/);
  expect(after).not.toMatch(/prot|nonsense/);
  expect(here.read(`${here.configPath}.bak`)).toBe(text);
  expect(await here.look(["config.keys"], { fix: true })).toMatchObject([{ level: "ok", text: "Unknown keys: well" }]);
});

test("unknown keys inside of old sections go too, and what is known there stays", async () => {
  const here = place(`{ agent: { workspace: "~/w", foo: 3 }, gateway: { mode: "local" } }`);
  const outcomes = await here.look(["config.keys", "config.legacy"], { fix: true });
  expect(outcomes.map(({ repaired }) => repaired !== undefined)).toEqual([true, true]);
  const after = here.read(here.configPath);
  expect(after).not.toContain("foo");
  expect(after).toMatch(/agents.*defaults[\s\S]*workspace.*~\/w/);
  expect((await here.look(CONFIG)).every(({ level }) => level === "ok")).toBe(true);
});

test("unknown keys and misspelt names do not stand in the way of each other's repair", async () => {
  const here = place(`{ gateway: { mode: "local" }, agnets: { x: 1 }, tools: { deny: ["exce"] } }`);
  const checks = ["config.file", "config.names", "config.keys"];
  const outcomes = await here.look(checks, { fix: true });
  expect(outcomes.map(({ level }) => level)).toEqual(["ok", "ok", "ok"]);
  expect(outcomes[1]?.repaired).toMatch(/Wrote tools\.deny\.0 = "exec", removed agnets; .*\.bak/);
  const after = here.read(here.configPath);
  expect(after).toContain('"exec"');
  expect(after).not.toContain("agnets");
});

test("a name that cannot be guessed keeps a file with unknown keys as it is", async () => {
  const text = `{ gateway: { mode: "local" }, agnets: { x: 1 }, tools: { deny: ["exce", "zzqqyyxx"] } }`;
  const here = place(text);
  await here.look(["config.names", "config.keys"], { fix: true });
  expect(here.read(here.configPath)).toBe(text);
});

test("beside other errors unknown keys are left alone: the file is not made half right", async () => {
  const here = place(`{ gateway: { prot: 1, port: "high" } }`);
  const outcomes = await here.look(["config.file", "config.keys"], { fix: true });
  expect(outcomes.filter(({ repaired, repair }) => repaired ?? repair)).toEqual([]);
  expect(here.read(here.configPath)).toContain("prot");
});

test("old keys move to their new places", async () => {
  const here = place(`{ routing: { queue: { mode: "collect" } }, gateway: { mode: "local", token: "abc" } } // end`);
  const [outcome] = await here.look(["config.legacy"], { fix: true });
  expect(outcome).toMatchObject({ level: "ok", repaired: expect.stringContaining("routing.queue → messages.queue") });
  expect(here.read(here.configPath)).toMatch(/messages[\s\S]*\/\/ end/);
});

test("a configuration that is managed from outside is never written", async () => {
  const here = place(`{ gateway: { token: "abc" }, nonsense: 1 }`, { env: { OPENCLAW_NIX_MODE: "1" } });
  const outcomes = await here.look([...CONFIG, "gateway.auth"], { fix: true });
  expect(outcomes.filter(({ repaired }) => repaired !== undefined)).toEqual([]);
  expect(readdirSync(here.home).filter((name) => name.includes(".bak"))).toEqual([]);
});

test.each([
  [`{ gateway: { mode: "local" } }`, []],
  [`{ session: {} }`, ["warn"]],
  [`{ gateway: { mode: "remote", remote: { url: "wss://a" } } }`, ["info"]],
  [`{ gateway: { mode: "remote" } }`, ["error"]],
])("the mode of the gateway: %s", async (config, levels) => {
  const outcomes = await place(config).look(["gateway.mode"]);
  expect(outcomes.flatMap(({ level }) => (level === "ok" ? [] : [level]))).toEqual(levels);
});

test("a missing token is made, saved, and never shown", async () => {
  const here = place(`{ gateway: { mode: "local" } }`);
  const [outcome] = await here.look(["gateway.auth"], { fix: true });
  const token = /[0-9a-f]{64}/.exec(here.read(here.configPath))![0];
  expect(JSON.stringify(outcome)).not.toContain(token);
  expect(await here.look(["gateway.auth"], { fix: true })).toMatchObject([{ level: "ok", text: "Gateway token: well" }]);
  expect(here.read(here.configPath)).toContain(token);
});

test("a token in the environment, a password or a remote gateway is enough", async () => {
  expect(await place(`{ gateway: { mode: "local" } }`, { env: { OPENCLAW_GATEWAY_TOKEN: "abc" } }).look(["gateway.auth"])).toMatchObject([{ level: "ok" }]);
  expect(await place(`{ gateway: { auth: { mode: "password" } } }`, { env: { OPENCLAW_GATEWAY_PASSWORD: "x" } }).look(["gateway.auth"])).toMatchObject([
    { level: "ok" },
  ]);
  expect(await place(`{ gateway: { mode: "remote" } }`).look(["gateway.auth"])).toMatchObject([{ level: "ok" }]);
});

test("without a configuration a token is made only when that is asked for", async () => {
  const here = place(undefined);
  expect(await here.look(["gateway.auth"], { fix: true })).toMatchObject([{ text: "Gateway token: well" }]);
  expect(await here.look(["gateway.auth"], { fix: true, generateToken: true })).toMatchObject([{ repaired: expect.stringContaining("gateway.auth.token") }]);
});

test("a gateway without an owner is named, and a list of several people that stands in for one", async () => {
  const look = async (config: string) => (await place(config).look(["access.owner"])).map(({ level, text, todo }) => [level, text, todo]);
  const [[level, text, todo] = []] = await look(`{ channels: { telegram: { botToken: "1:x", allowFrom: ["*"] } } }`);
  expect([level, todo]).toEqual(["warn", expect.stringContaining("openclaw pairing owner telegram ")]);
  expect(text).toContain("no owner is set");
  const several = await look(`{ channels: { telegram: { accounts: { a: { allowFrom: [1, 2] } } } } }`);
  expect(several).toEqual([["info", expect.stringContaining("all 2 senders of channels.telegram.accounts.a.allowFrom are owners"), expect.anything()]]);
  for (const well of [
    `{}`,
    `{ channels: { telegram: { allowFrom: [1] } } }`,
    `{ commands: { ownerAllowFrom: ["telegram:1"] }, channels: { telegram: { allowFrom: [1, 2] } } }`,
  ]) {
    expect((await look(well)).map(([level]) => level)).toEqual(["ok"]);
  }
});

test("chats that are open to anybody are named", async () => {
  const config = `{ channels: { telegram: { dmPolicy: "open", allowFrom: ["*"], accounts: { b: { groupPolicy: "open" } } }, slack: { enabled: false, dmPolicy: "open", allowFrom: ["*"] } } }`;
  const outcomes = await place(config).look(["access.open"]);
  expect(outcomes.map(({ level, todo }) => [level, todo])).toEqual([
    ["warn", "openclaw config set channels.telegram.dmPolicy pairing"],
    ["warn", "openclaw config set channels.telegram.accounts.b.groupPolicy allowlist"],
  ]);
});
