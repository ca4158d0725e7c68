import { describe, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createRedactor } from "../../src/base/redaction.ts";
import { deviceLogin, googleProject, oauthClient, type OAuthClient } from "../../src/models/auth/index.ts";
import { startJsonServer, type Answer, type Asked, type JsonServer } from "../fakes/json-server/index.ts";

const fetchOf = (server: JsonServer): typeof fetch => server.fetch as unknown as typeof fetch;

describe("MiniMax", () => {
  const CODE = "POST https://api.minimax.io/oauth/code";
  const TOKEN = "POST https://api.minimax.io/oauth/token";
  const client = oauthClient("minimax-portal", { clientId: "ours" }, {}) as OAuthClient;

  function deps(server: JsonServer) {
    const clock = manualClock();
    const pauses: number[] = [];
    const shown: object[] = [];
    const pause = async (ms: number): Promise<void> => {
      pauses.push(ms);
      clock.advance(ms);
    };
    const redactor = createRedactor();
    return {
      clock,
      pauses,
      shown,
      pause,
      redactor,
      random: systemRandom,
      version: "1.2.3",
      fetch: fetchOf(server),
      show: (prompt: object) => void shown.push(prompt),
    };
  }

  const fieldsOf = ({ body }: Asked): Record<string, string> => Object.fromEntries(new URLSearchParams(body));
  const begun =
    (end: number, over: object = {}) =>
    (asked: Asked): Answer => ({
      body: {
        user_code: "ABC-123",
        verification_uri: "https://platform.minimax.io/verify",
        expired_in: end,
        interval: 1500,
        state: fieldsOf(asked)["state"],
        ...over,
      },
    });

  test("a code is typed there while we ask as slowly as it wants; the end of the login is a moment", async () => {
    const end = 1_700_000_600_000;
    await using server = await startJsonServer({
      [CODE]: begun(end),
      [TOKEN]: (_asked, count) =>
        count < 3
          ? { body: { status: "pending" } }
          : {
              body: {
                status: "success",
                access_token: "access-1",
                refresh_token: "refresh-1",
                expired_in: 1_700_009_000_000,
                resource_url: "https://api.minimax.io/anthropic",
              },
            },
    });
    const world = deps(server);
    expect(await deviceLogin(client, world)).toMatchObject({
      type: "oauth",
      provider: "minimax-portal",
      access: "access-1",
      expires: 1_700_009_000_000,
      resourceUrl: "https://api.minimax.io/anthropic",
      clientId: "ours",
    });
    expect([world.shown, world.pauses]).toEqual([[{ url: "https://platform.minimax.io/verify", code: "ABC-123", expiresAt: end }], [1500, 2250, 3375]]);
    const [first, second] = server.asked.map(fieldsOf);
    expect(first).toMatchObject({ response_type: "code", client_id: "ours", scope: "group_id profile model.completion", code_challenge_method: "S256" });
    expect(second).toMatchObject({
      grant_type: "urn:ietf:params:oauth:grant-type:user_code",
      user_code: "ABC-123",
      code_verifier: expect.stringMatching(/^.{43}$/),
    });
    expect(world.redactor.text("access-1 refresh-1")).toBe("*** ***");
  });

  test("an answer for another login, a refusal and a code that ran out end it in words", async () => {
    await using stranger = await startJsonServer({ [CODE]: begun(0, { state: "other" }) });
    await expect(deviceLogin(client, deps(stranger))).rejects.toMatchObject({ code: "PERMISSION_DENIED", message: expect.stringContaining("another login") });
    await using refusing = await startJsonServer({ [CODE]: begun(0), [TOKEN]: { body: { status: "denied" } } });
    await expect(deviceLogin(client, deps(refusing))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await using slow = await startJsonServer({ [CODE]: begun(1_700_000_004_000), [TOKEN]: { body: { status: "pending" } } });
    await expect(deviceLogin(client, deps(slow))).rejects.toMatchObject({ code: "TIMEOUT" });
  });
});

describe("the project of a Google login", () => {
  const BASE = "https://cloudcode-pa.googleapis.com/v1internal";
  const { projectUrls = [] } = oauthClient("google-gemini-cli", { clientId: "ours" }, {}) as OAuthClient;
  const project = (server: JsonServer, env: Record<string, string> = {}, urls = projectUrls) =>
    googleProject("ya29.secret", urls, {
      clock: manualClock(),
      redactor: createRedactor(),
      version: "1.2.3",
      fetch: fetchOf(server),
      env,
      pause: async () => undefined,
    });

  test("is the user's own, without asking anybody", async () => {
    await using server = await startJsonServer({});
    expect([await project(server, { GOOGLE_CLOUD_PROJECT: " mine " }), server.asked]).toEqual(["mine", []]);
  });

  test("is the one that the account has; who asks calls itself nothing else", async () => {
    await using server = await startJsonServer({
      [`POST ${BASE}:loadCodeAssist`]: { body: { currentTier: { id: "free" }, cloudaicompanionProject: { id: "p1" } } },
    });
    expect(await project(server)).toBe("p1");
    const [{ headers, body }] = server.asked as [Asked];
    expect(headers).toMatchObject({ "user-agent": "openclaw/1.2.3", authorization: "Bearer ya29.secret" });
    expect(Object.values((JSON.parse(body) as { metadata: object }).metadata).every((word) => String(word).endsWith("_UNSPECIFIED"))).toBe(true);
  });

  test("is set up where there is none, and waited for", async () => {
    await using server = await startJsonServer({
      [`POST ${BASE}:loadCodeAssist`]: { body: { allowedTiers: [{ id: "other" }, { id: "standard", isDefault: true }] } },
      [`POST ${BASE}:onboardUser`]: { body: { name: "operations/7", done: false } },
      [`GET ${BASE}/operations/7`]: (_asked, count) => ({
        body: count < 2 ? { name: "operations/7" } : { done: true, response: { cloudaicompanionProject: { id: "made" } } },
      }),
    });
    expect(await project(server)).toBe("made");
    expect(JSON.parse(server.asked[1]!.body)).toMatchObject({ tierId: "standard" });
  });

  test("the second host is asked when the first fails; when none knows one, what to set is said", async () => {
    const { projectUrls: both = [] } = oauthClient("google-antigravity", { clientId: "ours" }, {}) as OAuthClient;
    await using server = await startJsonServer({
      "POST https://daily-cloudcode-pa.sandbox.googleapis.com/v1internal:loadCodeAssist": { body: { cloudaicompanionProject: "p2" } },
    });
    expect(await project(server, {}, both)).toBe("p2");
    await expect(project(server)).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("GOOGLE_CLOUD_PROJECT") });
  });
});
