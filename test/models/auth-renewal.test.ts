import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startOAuthServer, type OAuthServer } from "../fakes/oauth-server/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { createLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createRedactor } from "../../src/base/redaction.ts";
import type { OAuthCredential } from "../../src/protocol/index.ts";
import { failureOf } from "../../src/models/failure.ts";
import { createAuthProfiles, type AuthProfilesDeps } from "../../src/models/auth/index.ts";

const expired = (server: OAuthServer, over: Partial<OAuthCredential> = {}): OAuthCredential => ({
  type: "oauth",
  provider: "acme",
  access: "expired-access-0123456789",
  refresh: server.refreshToken(),
  expires: 1,
  clientId: "our-client",
  tokenUrl: `${server.url}/token`,
  ...over,
});

function setup(over: Partial<AuthProfilesDeps> = {}) {
  const root = mkdtempSync(join(tmpdir(), "openclaw-renewal-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const redactor = createRedactor();
  const lines: string[] = [];
  const sink = { write: (record: unknown) => void lines.push(JSON.stringify(record)), flush: () => Promise.resolve() };
  const deps: AuthProfilesDeps = {
    agentDir: join(root, "work"),
    mainAgentDir: join(root, "main"),
    config: () => ({}),
    env: () => ({}),
    envNames: () => [],
    clock: systemClock,
    ids: createIds(systemRandom),
    log: createLogger({ clock: systemClock, redactor, outputs: [{ sink, level: "trace" }] }),
    redactor,
    version: "test",
    ...over,
  };
  const put = (folder: "work" | "main", profiles: object): void => {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, "auth-profiles.json"), JSON.stringify({ version: 1, profiles }));
  };
  const stored = (folder = "work") =>
    (JSON.parse(readFileSync(join(root, folder, "auth-profiles.json"), "utf8")) as { profiles: Record<string, OAuthCredential> }).profiles;
  return { root, deps, lines, put, stored, profiles: createAuthProfiles(deps) };
}

/** A process of its own that asks for the credential and prints it. */
function asker(root: string): Promise<string> {
  const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  const lines = `
    const { createAuthProfiles } = await import(${url("../../src/models/auth/index.ts")});
    const { systemClock } = await import(${url("../../src/base/clock.ts")});
    const { createIds } = await import(${url("../../src/base/ids.ts")});
    const { systemRandom } = await import(${url("../../src/base/random.ts")});
    const { createRedactor } = await import(${url("../../src/base/redaction.ts")});
    const { silentLogger } = await import(${url("../../src/base/log/logger.ts")});
    const profiles = createAuthProfiles({
      agentDir: ${JSON.stringify(join(root, "work"))}, mainAgentDir: ${JSON.stringify(join(root, "main"))}, config: () => ({}), env: () => ({}), envNames: () => [],
      clock: systemClock, ids: createIds(systemRandom), log: silentLogger, redactor: createRedactor(), version: "test",
    });
    const [candidate] = await profiles.candidates("acme");
    process.stdout.write((await profiles.credential(candidate)).apiKey);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", lines], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return once(child, "close").then(([code]) => (code === 0 ? text : `exit ${String(code)}`));
}

test("two processes that find a login expired renew it once", async () => {
  await using server = await startOAuthServer({ delayMs: 150 });
  const { root, put, stored } = setup();
  put("work", { "acme:me": expired(server) });
  const [one, two] = await Promise.all([asker(root), asker(root)]);
  expect(server.requests).toHaveLength(1);
  expect(one).toBe(stored()["acme:me"]!.access);
  expect(two).toBe(one);
  expect(readdirSync(join(root, "work"))).toEqual(["auth-profiles.json"]);
});

test("many callers of one process share a renewal, and use of other profiles goes on meanwhile", async () => {
  await using server = await startOAuthServer({ delayMs: 100 });
  const { put, profiles } = setup();
  put("work", { "acme:me": expired(server), "acme:key": { type: "api_key", provider: "acme", key: "k-0123456789" } });
  const [login, key] = await profiles.candidates("acme");
  const renewing = Array.from({ length: 5 }, () => profiles.credential(login!));
  await profiles.succeeded(key!, "m");
  expect(server.requests.length).toBeLessThanOrEqual(1);
  const keys = new Set((await Promise.all(renewing)).map(({ apiKey }) => apiKey));
  expect([keys.size, server.requests.length]).toEqual([1, 1]);
});

test("a login of the main agent is renewed where it stands", async () => {
  await using server = await startOAuthServer();
  const { put, profiles, stored, root } = setup();
  put("main", { "acme:me": expired(server) });
  const { apiKey } = await profiles.credential((await profiles.candidates("acme"))[0]!);
  expect(stored("main")["acme:me"]!.access).toBe(apiKey);
  expect(readdirSync(root)).toEqual(["main"]);
});

test("when it fails, what another process stored in that time is used", async () => {
  await using server = await startOAuthServer();
  const world = setup({
    refresh: () => async (login) => {
      world.put("work", { "acme:me": { ...login, access: "stored-meanwhile-0123", expires: Date.now() + 60_000 } });
      throw new Error("no");
    },
  });
  world.put("work", { "acme:me": expired(server) });
  expect((await world.profiles.credential((await world.profiles.candidates("acme"))[0]!)).apiKey).toBe("stored-meanwhile-0123");
});

test("when it fails, the successor of the default profile serves, then the main agent's copy", async () => {
  await using server = await startOAuthServer({ refuse: { status: 400, body: `{"error":"invalid_grant"}` } });
  const fresh = expired(server, { access: "successor-access-0123", expires: Date.now() + 60_000 });
  const one = setup();
  one.put("work", { "acme:default": expired(server), "acme:me@example.test": fresh });
  const old = (await one.profiles.candidates("acme", { userPin: "acme:default" }))[0]!;
  expect((await one.profiles.credential(old)).apiKey).toBe("successor-access-0123");
  const two = setup();
  two.put("work", { "acme:me": expired(server) });
  two.put("main", { "acme:me": fresh });
  expect((await two.profiles.credential((await two.profiles.candidates("acme"))[0]!)).apiKey).toBe("successor-access-0123");
});

test("when nothing serves, the failure is the login's, and no secret is in any word of it", async () => {
  await using server = await startOAuthServer({ refuse: { status: 400, body: `{"error":"invalid_grant","error_description":"{refresh_token} is spent"}` } });
  const { put, profiles, lines } = setup();
  put("work", { "acme:me": expired(server) });
  const error = await profiles.credential((await profiles.candidates("acme"))[0]!).catch((thrown: unknown) => thrown);
  expect(failureOf(error)).toMatchObject({ status: 401 });
  const words = `${String(error)} ${JSON.stringify(error)} ${(error as Error).stack} ${lines.join("\n")}`;
  for (const secret of [...server.secrets, "expired-access-0123456789"]) expect(words).not.toContain(secret);
});

test("a plugin's own renewal and key form are used", async () => {
  await using server = await startOAuthServer();
  const { put, profiles } = setup({
    refresh: () => async (login) => ({ ...login, access: "from-the-plugin-01", expires: Date.now() + 60_000 }),
    formatKey: () => (credential) => `formatted:${credential.type === "oauth" ? credential.access : ""}`,
  });
  put("work", { "acme:me": expired(server) });
  expect((await profiles.credential((await profiles.candidates("acme"))[0]!)).apiKey).toBe("formatted:from-the-plugin-01");
  expect(server.requests).toEqual([]);
});
