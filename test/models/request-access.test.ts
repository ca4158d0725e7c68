import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { manualClock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createRedactor } from "../../src/base/redaction.ts";
import { createRequestAccess } from "../../src/models/auth/index.ts";
import { copilotBaseUrl } from "../../src/models/auth/copilot.ts";
import { failureOf } from "../../src/models/failure.ts";
import { startJsonServer, type Answer, type JsonServer } from "../fakes/json-server/index.ts";

const TOKEN_URL = "GET https://api.github.com/copilot_internal/v2/token";

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-request-access-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function accessOver(server: JsonServer, clock: ManualClock, folder?: string) {
  const redactor = createRedactor();
  const access = createRequestAccess({ clock, ids: createIds(systemRandom), redactor, version: "1.2.3", fetch: server.fetch, folder });
  return { redactor, copilot: (githubToken: string) => access("github-copilot", { type: "token", apiKey: githubToken }), access };
}

/** A token that lives half an hour, another one each time. */
const granted =
  (clock: ManualClock) =>
  (_asked: unknown, count: number): Answer => ({
    body: { token: `tid=${count};proxy-ep=proxy.business.githubcopilot.com;x=1`, expires_at: Math.floor(clock.now() / 1000) + 1800 },
  });

describe("a login of GitHub Copilot", () => {
  test("is exchanged for a token with an address of its own, by who we are", async () => {
    const clock = manualClock();
    await using server = await startJsonServer({ [TOKEN_URL]: granted(clock) });
    const { copilot, redactor } = accessOver(server, clock);
    const { apiKey, baseUrl } = await copilot("gho_secret_1");
    expect([apiKey?.slice(0, 6), baseUrl]).toEqual(["tid=1;", "https://api.business.githubcopilot.com"]);
    expect(server.asked[0]?.headers).toMatchObject({ authorization: "Bearer gho_secret_1", "user-agent": "openclaw/1.2.3" });
    expect(Object.keys(server.asked[0]!.headers).filter((name) => /editor|integration/.test(name))).toEqual([]);
    expect(redactor.text(`got ${apiKey}`)).toBe("got ***");
  });

  test("is exchanged once for all who ask, and again five minutes before its end", async () => {
    const clock = manualClock();
    await using server = await startJsonServer({ [TOKEN_URL]: granted(clock) });
    const { copilot } = accessOver(server, clock);
    await Promise.all([copilot("gho_secret_1"), copilot("gho_secret_1")]);
    clock.advance(24 * 60_000);
    await copilot("gho_secret_1");
    expect(server.asked).toHaveLength(1);
    clock.advance(60_000);
    expect((await copilot("gho_secret_1")).apiKey).toContain("tid=2");
  });

  test("is kept for the next start, for its owner and its account only", async () => {
    const clock = manualClock();
    const folder = temporary();
    await using server = await startJsonServer({ [TOKEN_URL]: granted(clock) });
    await accessOver(server, clock, folder).copilot("gho_secret_1");
    const file = join(folder, "github-copilot.token.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      token: expect.stringContaining("tid=1"),
      expiresAt: expect.any(Number),
      updatedAt: clock.now(),
    });
    expect([statSync(file).mode & 0o777, readFileSync(file, "utf8").includes("gho_secret_1")]).toEqual([0o600, false]);
    expect((await accessOver(server, clock, folder).copilot("gho_secret_1")).apiKey).toContain("tid=1");
    expect((await accessOver(server, clock, folder).copilot("gho_secret_2")).apiKey).toContain("tid=2");
  });

  test("a damaged file, or a folder that cannot be written, is no obstacle", async () => {
    const clock = manualClock();
    const folder = temporary();
    writeFileSync(join(folder, "github-copilot.token.json"), "{ half");
    writeFileSync(join(folder, "file"), "");
    await using server = await startJsonServer({ [TOKEN_URL]: granted(clock) });
    expect((await accessOver(server, clock, folder).copilot("gho_secret_1")).apiKey).toContain("tid=1");
    expect((await accessOver(server, clock, join(folder, "file", "below")).copilot("gho_secret_1")).apiKey).toContain("tid=2");
  });

  test.each<[Answer, object]>([
    [
      { status: 401, body: { message: "bad gho_secret_1" } },
      { status: 401, text: expect.stringContaining("bad ***") },
    ],
    [{ status: 404, body: {} }, { status: 401 }],
    [{ status: 503, body: {} }, { status: 503 }],
    [{ body: { token: 7 } }, { status: 401 }],
    ["reset", { phase: "connect" }],
  ])("what GitHub says instead is the account's trouble or GitHub's: %j", async (answer, expected) => {
    const clock = manualClock();
    await using server = await startJsonServer({ [TOKEN_URL]: answer });
    const { copilot, redactor } = accessOver(server, clock);
    redactor.register("gho_secret_1");
    expect(failureOf(await copilot("gho_secret_1").catch((error: unknown) => error))).toMatchObject(expected);
  });

  test("a token that was exchanged elsewhere is used as it is", async () => {
    await using server = await startJsonServer({});
    const token = "tid=9;proxy-ep=proxy.individual.githubcopilot.com";
    expect(await accessOver(server, manualClock()).copilot(token)).toEqual({ apiKey: token, baseUrl: "https://api.individual.githubcopilot.com" });
    expect(server.asked).toEqual([]);
  });

  test("a token cannot send requests to a stranger", () => {
    expect(["tid=1;proxy-ep=evil.example", "tid=1;proxy-ep=githubcopilot.com.evil.example", "tid=1"].map(copilotBaseUrl)).toEqual(
      Array.from({ length: 3 }, () => "https://api.individual.githubcopilot.com"),
    );
  });
});

test("account and gateway of Cloudflare come from the profile", async () => {
  await using server = await startJsonServer({});
  const { access } = accessOver(server, manualClock());
  const place = "https://gateway.ai.cloudflare.com/v1/{account}/{gateway}/anthropic";
  const key = { type: "api_key", apiKey: "cf-key", metadata: { accountId: "a/1", gatewayId: "g" } } as const;
  expect(await access("cloudflare-ai-gateway", key, place)).toEqual({ apiKey: "cf-key", baseUrl: "https://gateway.ai.cloudflare.com/v1/a%2F1/g/anthropic" });
});

test("the address that a Qwen login names is completed; others are taken as they are", async () => {
  await using server = await startJsonServer({});
  const { access } = accessOver(server, manualClock());
  const login = { type: "oauth", apiKey: "t", baseUrl: "https://portal.qwen.ai/" } as const;
  expect((await access("qwen-portal", login)).baseUrl).toBe("https://portal.qwen.ai/v1");
  expect((await access("qwen-portal", { ...login, baseUrl: "https://portal.qwen.ai/v1" })).baseUrl).toBe("https://portal.qwen.ai/v1");
  expect((await access("minimax-portal", { ...login, baseUrl: "https://api.minimax.io/anthropic" })).baseUrl).toBe("https://api.minimax.io/anthropic");
});
