import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { startOAuthServer, type OAuthServer } from "../fakes/oauth-server/index.ts";
import { manualClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createRedactor } from "../../src/base/redaction.ts";
import { failureOf } from "../../src/models/failure.ts";
import { browserLogin } from "../../src/models/auth/oauth/browser-login.ts";
import { parseCallback } from "../../src/models/auth/oauth/callback.ts";
import { oauthClient, type OAuthClient } from "../../src/models/auth/oauth/client.ts";
import { deviceLogin } from "../../src/models/auth/oauth/device-login.ts";
import { refreshLogin } from "../../src/models/auth/renewal.ts";
import { setupTokenProblem } from "../../src/models/auth/oauth/client.ts";

function clientOf(server: OAuthServer, over: Partial<OAuthClient> = {}): OAuthClient {
  const { url } = server;
  return {
    provider: "acme",
    clientId: "our-client",
    authorizeUrl: `${url}/authorize?prompt=consent`,
    tokenUrl: `${url}/token`,
    deviceUrl: `${url}/device`,
    scopes: ["a", "b"],
    redirectUri: "http://127.0.0.1:0/oauth-callback",
    tokenFormat: "form",
    ...over,
  };
}

function deps() {
  const clock = manualClock();
  return { clock, redactor: createRedactor(), random: systemRandom, version: "1.2.3", remote: false, show: async (url: string) => void (await fetch(url)) };
}

describe("with a browser", () => {
  test("PKCE, a return to this machine, and a login that can be renewed", async () => {
    await using server = await startOAuthServer({ email: "me@example.test" });
    const shown: string[] = [];
    const world = deps();
    const login = await browserLogin(clientOf(server), { ...world, show: async (url) => (shown.push(url), void (await fetch(url))) });
    const asked = new URL(shown[0]!).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      prompt: "consent",
      response_type: "code",
      client_id: "our-client",
      scope: "a b",
      code_challenge_method: "S256",
    });
    expect(server.requests).toMatchObject([{ userAgent: "openclaw/1.2.3", fields: { grant_type: "authorization_code", client_id: "our-client" } }]);
    expect(login).toMatchObject({ type: "oauth", provider: "acme", email: "me@example.test", clientId: "our-client", tokenUrl: `${server.url}/token` });
    expect(login.expires).toBe(world.clock.now() + 55 * 60_000);
    expect(world.redactor.text(`${login.access} ${login.refresh}`)).toBe("*** ***");
  });

  test("a return with another state is refused, and the login goes on", async () => {
    await using server = await startOAuthServer();
    const statuses: number[] = [];
    const login = await browserLogin(clientOf(server), {
      ...deps(),
      show: async (url) => {
        const back = new URL(new URL(url).searchParams.get("redirect_uri")!);
        statuses.push((await fetch(`${back.href}?code=stolen&state=wrong`)).status, (await fetch(new URL("/other", back))).status);
        statuses.push((await fetch(url)).status);
      },
    });
    expect([statuses, login.provider]).toEqual([[400, 404, 200], "acme"]);
  });

  test("far from the browser the address is pasted", async () => {
    await using server = await startOAuthServer();
    let back = "";
    const show = async (url: string) => void (back = (await fetch(url, { redirect: "manual" })).headers.get("location")!);
    const client = clientOf(server, { redirectUri: "http://localhost:1455/auth/callback" });
    expect((await browserLogin(client, { ...deps(), remote: true, show, paste: async () => ` ${back}\n` })).access).toMatch(/^access-/);
  });

  test("a port that is taken is no end: the address is pasted, and without a terminal that is said", async () => {
    await using server = await startOAuthServer();
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const client = clientOf(server, { redirectUri: `http://127.0.0.1:${(taken.address() as AddressInfo).port}/back` });
    let back = "";
    const show = async (url: string) => void (back = (await fetch(url, { redirect: "manual" })).headers.get("location")!);
    expect((await browserLogin(client, { ...deps(), show, paste: async () => back })).provider).toBe("acme");
    await expect(browserLogin(client, { ...deps(), show })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    taken.close();
  });

  test("what was pasted from another login is refused", async () => {
    await using server = await startOAuthServer();
    const world = { ...deps(), remote: true, show: () => undefined };
    await expect(browserLogin(clientOf(server), { ...world, paste: async () => "http://localhost/?code=c&state=other" })).rejects.toThrow("another login");
    await expect(browserLogin(clientOf(server), { ...world, paste: async () => "http://localhost/?error=access_denied" })).rejects.toThrow("access_denied");
  });

  test("it ends with its time, and when the user gives up", async () => {
    await using server = await startOAuthServer();
    const world = deps();
    const late = browserLogin(clientOf(server), { ...world, show: () => queueMicrotask(() => setImmediate(() => world.clock.advance(5 * 60_000))) });
    await expect(late).rejects.toMatchObject({ code: "TIMEOUT" });
    const stop = new AbortController();
    const cancelled = browserLogin(clientOf(server), { ...deps(), signal: stop.signal, show: () => stop.abort() });
    await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("nothing but this machine may be returned to", async () => {
    await using server = await startOAuthServer();
    await expect(browserLogin(clientOf(server, { redirectUri: "http://0.0.0.0:1/x" }), deps())).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  test.each([
    ["http://localhost:1/x?code=c&state=s", { code: "c", state: "s" }],
    ["?code=c&state=s", { code: "c", state: "s" }],
    ["code=c&state=s", { code: "c", state: "s" }],
    ["c#s", { code: "c", state: "s" }],
    [" c ", { code: "c" }],
    ["", {}],
  ])("pasted %j is understood", (text, returned) => expect(parseCallback(text)).toEqual(returned));
});

describe("with a device code", () => {
  test("the user types a code elsewhere while we poll as slowly as the server asks", async () => {
    await using server = await startOAuthServer({ polls: ["authorization_pending", "slow_down", "ok200"] });
    const world = deps();
    const pauses: number[] = [];
    const shown: unknown[] = [];
    const pause = async (ms: number) => (pauses.push(ms), world.clock.advance(ms));
    const login = await deviceLogin(clientOf(server), { ...world, pause, show: (prompt) => void shown.push(prompt) });
    expect(pauses).toEqual([1000, 1000, 3000, 3000]);
    expect(shown).toMatchObject([{ url: "https://login.example.test/device", code: "ABCD-EFGH" }]);
    expect(login.access).toMatch(/^access-/);
    expect(server.requests[0]).toMatchObject({ path: "/device", fields: { client_id: "our-client", scope: "a b" } });
  });

  test("a refusal and a code that ran out end it", async () => {
    await using refusing = await startOAuthServer({ polls: ["access_denied"] });
    const world = deps();
    const pause = async (ms: number) => world.clock.advance(ms);
    await expect(deviceLogin(clientOf(refusing), { ...world, pause, show: () => undefined })).rejects.toThrow("access_denied");
    await using slow = await startOAuthServer({ polls: Array.from({ length: 50 }, () => "authorization_pending") });
    const later = async () => world.clock.advance(300_000);
    await expect(deviceLogin(clientOf(slow), { ...world, pause: later, show: () => undefined })).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("the verifier goes with it where the provider wants that", async () => {
    await using server = await startOAuthServer();
    await deviceLogin(clientOf(server, { devicePkce: true }), { ...deps(), pause: async () => undefined, show: () => undefined });
    expect(server.requests.map(({ fields }) => [fields["code_challenge_method"], fields["code_verifier"] !== undefined])).toEqual([
      ["S256", false],
      [undefined, true],
    ]);
  });
});

describe("renewal", () => {
  const stored = (server: OAuthServer, refresh = server.refreshToken()) => ({
    type: "oauth" as const,
    provider: "acme",
    access: "old-access-0123456789",
    refresh,
    expires: 1,
    clientId: "our-client",
    tokenUrl: `${server.url}/token`,
    email: "kept@example.test",
  });

  test("gives a new token and keeps what else is known", async () => {
    await using server = await startOAuthServer();
    const before = stored(server);
    const login = await refreshLogin(before, {}, deps());
    expect(login).toMatchObject({ email: "kept@example.test", provider: "acme" });
    expect([login.access === before.access, login.refresh === before.refresh]).toEqual([false, false]);
  });

  test.each([
    [400, `{"error":"invalid_grant","error_description":"{refresh_token} is revoked"}`, 401],
    [500, "<html>{refresh_token}</html>", 500],
    [200, "{}", 401],
  ])("a server that answers %i is reported truthfully and without the token", async (status, body, reported) => {
    await using server = await startOAuthServer({ refuse: { status, body } });
    const world = deps();
    const before = stored(server);
    world.redactor.register(before.refresh);
    const error = await refreshLogin(before, {}, world).catch((thrown: unknown) => thrown);
    expect(failureOf(error)).toMatchObject({ status: reported, text: expect.stringContaining("openclaw models auth login --provider acme") });
    expect(String(error) + JSON.stringify(error)).not.toContain(before.refresh);
  });

  test("a server that is not there is the network's failure, not the login's", async () => {
    const server = await startOAuthServer();
    const before = stored(server);
    await server[Symbol.asyncDispose]();
    const error = await refreshLogin(before, {}, deps()).catch((thrown: unknown) => thrown);
    expect(failureOf(error)).toMatchObject({ phase: "connect", code: "ECONNREFUSED" });
    expect(failureOf(error)).not.toHaveProperty("status");
  });

  test("without a client id of our own nothing is sent", async () => {
    await using server = await startOAuthServer();
    const { clientId: _, ...before } = stored(server);
    await expect(refreshLogin(before, {}, deps())).rejects.toThrow("a client id");
    expect(server.requests).toEqual([]);
  });
});

describe("who we are", () => {
  test("a client id comes from the user; none is built in", () => {
    for (const provider of ["anthropic", "openai-codex", "google-gemini-cli", "github-copilot", "qwen-portal", "chutes", "acme"]) {
      expect(oauthClient(provider, {}, {})).toEqual({ missing: expect.stringContaining("client id") });
    }
    expect(oauthClient("chutes", {}, { CHUTES_CLIENT_ID: "mine", CHUTES_CLIENT_SECRET: "s" })).toMatchObject({ clientId: "mine", clientSecret: "s" });
    expect(oauthClient("acme", { clientId: "mine" }, {})).toEqual({ missing: expect.stringContaining("--token-url") });
  });

  test.each([
    ["sk-ant-api03-x", "begins with"],
    ["sk-ant-oat01-short", "cut off"],
  ])("a setup-token of the wrong form is refused without repeating it", (token, words) => {
    expect(setupTokenProblem(token)).toContain(words);
    expect(setupTokenProblem(token)).not.toContain(token);
    expect(setupTokenProblem(`sk-ant-oat01-${"x".repeat(80)}`)).toBeUndefined();
  });
});
