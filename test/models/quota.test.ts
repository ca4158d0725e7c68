import { describe, expect, test } from "vitest";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { createRedactor } from "../../src/base/redaction.ts";
import type { Access, AuthProfiles, Candidate } from "../../src/models/auth/index.ts";
import { createQuota, QUOTA_PROVIDERS, type QuotaDeps } from "../../src/models/quota/index.ts";
import { startJsonServer, type Answer } from "../fakes/json-server/index.ts";

type Login = Partial<Access> & { readonly apiKey: string };

function authWith(logins: Readonly<Record<string, Login>>): Pick<AuthProfiles, "candidates" | "credential"> {
  return {
    async candidates(provider) {
      const login = logins[provider];
      return login ? [{ source: "profile", id: `${provider}:default`, provider, type: login.type ?? "oauth", why: "" } satisfies Candidate] : [];
    },
    async credential({ provider }) {
      return { type: "oauth", ...logins[provider]! };
    },
  };
}

async function world(logins: Readonly<Record<string, Login>>, answers: Readonly<Record<string, Answer>>, over: Partial<QuotaDeps> = {}) {
  const server = await startJsonServer(answers);
  const redactor = createRedactor();
  const deps: QuotaDeps = { auth: authWith(logins), env: () => ({}), clock: manualClock(), redactor, version: "1.2.3", fetch: server.fetch, ...over };
  return { server, quota: createQuota(deps), redactor, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const CASES: readonly {
  readonly provider: string;
  readonly login: Login;
  readonly answers: Readonly<Record<string, Answer>>;
  readonly reported: object;
  readonly sent?: object;
}[] = [
  {
    provider: "anthropic",
    login: { apiKey: "sk-ant-oat01-abcdefgh" },
    answers: {
      "GET https://api.anthropic.com/api/oauth/usage": {
        body: {
          five_hour: { utilization: 12.34, resets_at: "2026-02-19T10:00:00Z" },
          seven_day: { utilization: 120 },
          seven_day_sonnet: { utilization: 3 },
          seven_day_opus: null,
        },
      },
    },
    reported: {
      windows: [
        { label: "5h", usedPercent: 12.3, resetAt: Date.UTC(2026, 1, 19, 10) },
        { label: "Week", usedPercent: 100 },
        { label: "Sonnet", usedPercent: 3 },
      ],
    },
    sent: { authorization: "Bearer sk-ant-oat01-abcdefgh", "anthropic-beta": "oauth-2025-04-20" },
  },
  {
    provider: "openai-codex",
    login: { apiKey: "codex-token-1234", accountId: "acc-1" },
    answers: {
      "GET https://chatgpt.com/backend-api/wham/usage": {
        body: {
          rate_limit: {
            primary_window: { limit_window_seconds: 18_000, used_percent: 40, reset_at: 1_771_500_000 },
            secondary_window: { limit_window_seconds: 604_800, used_percent: 5 },
          },
          plan_type: "plus",
          credits: { balance: "4.5" },
        },
      },
    },
    reported: {
      windows: [
        { label: "5h", usedPercent: 40, resetAt: 1_771_500_000_000 },
        { label: "Week", usedPercent: 5 },
      ],
      plan: "plus ($4.50)",
    },
    sent: { "chatgpt-account-id": "acc-1" },
  },
  {
    provider: "github-copilot",
    login: { apiKey: "gho_1234567890", type: "token" },
    answers: {
      "GET https://api.github.com/copilot_internal/user": {
        body: { quota_snapshots: { premium_interactions: { percent_remaining: 25 }, chat: { percent_remaining: null } }, copilot_plan: "individual" },
      },
    },
    reported: { windows: [{ label: "Premium", usedPercent: 75 }], plan: "individual" },
    sent: { authorization: "token gho_1234567890" },
  },
  {
    provider: "google-gemini-cli",
    login: { apiKey: JSON.stringify({ token: "ya29.token", projectId: "p1" }), projectId: "p1" },
    answers: {
      "POST https://cloudcode-pa.googleapis.com/v1internal:retrieveUserQuota": {
        body: {
          buckets: [
            { modelId: "gemini-3-pro-preview", remainingFraction: 0.9 },
            { modelId: "gemini-2.5-pro", remainingFraction: 0.25, resetTime: "2026-02-20T00:00:00Z" },
            { modelId: "gemini-3-flash-preview", remainingFraction: 1 },
          ],
        },
      },
    },
    reported: {
      windows: [
        { label: "Pro", usedPercent: 75, resetAt: Date.UTC(2026, 1, 20) },
        { label: "Flash", usedPercent: 0 },
      ],
    },
    sent: { authorization: "Bearer ya29.token" },
  },
  {
    provider: "google-antigravity",
    login: { apiKey: JSON.stringify({ token: "ya29.other" }) },
    answers: {
      "POST https://cloudcode-pa.googleapis.com/v1internal:loadCodeAssist": {
        body: {
          availablePromptCredits: 100,
          planInfo: { monthlyPromptCredits: 400 },
          currentTier: { id: "pro-tier", name: "Pro" },
          cloudaicompanionProject: { id: "p9" },
        },
      },
      "POST https://cloudcode-pa.googleapis.com/v1internal:fetchAvailableModels": {
        body: { models: Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`m${at}`, { quotaInfo: { remainingFraction: at / 12 } }])) },
      },
    },
    reported: {
      windows: [
        { label: "Credits", usedPercent: 75 },
        ...[100, 91.7, 83.3, 75, 66.7, 58.3, 50, 41.7, 33.3, 25].map((usedPercent, at) => ({ label: `m${at}`, usedPercent })),
      ],
      plan: "Pro",
    },
  },
  {
    provider: "minimax",
    login: { apiKey: "minimax-key-123", type: "api_key" },
    answers: {
      "GET https://api.minimaxi.com/v1/api/openplatform/coding_plan/remains": {
        body: {
          base_resp: { status_code: 0, status_msg: "success" },
          model_remains: [{ current_interval_total_count: 1500, current_interval_usage_count: 1350, end_time: 1_771_500_000_000 }],
        },
      },
    },
    reported: { windows: [{ label: "5h", usedPercent: 10, resetAt: 1_771_500_000_000 }] },
  },
  {
    provider: "zai",
    login: { apiKey: "zai-key-123456", type: "api_key" },
    answers: {
      "GET https://api.z.ai/api/monitor/usage/quota/limit": {
        body: {
          code: 200,
          success: true,
          data: {
            limits: [
              { type: "TIME_LIMIT", unit: 5, number: 1, percentage: 28 },
              { type: "TOKENS_LIMIT", unit: 3, number: 5, percentage: 1, nextResetTime: 1_771_073_738_808 },
            ],
            level: "lite",
          },
        },
      },
    },
    reported: {
      windows: [
        { label: "Monthly", usedPercent: 28 },
        { label: "Tokens (5h)", usedPercent: 1, resetAt: 1_771_073_738_808 },
      ],
      plan: "lite",
    },
  },
  { provider: "xiaomi", login: { apiKey: "xiaomi-key", type: "api_key" }, answers: {}, reported: { windows: [] } },
];

test("every provider with an endpoint has a case here", () => expect(CASES.map(({ provider }) => provider).sort()).toEqual([...QUOTA_PROVIDERS].sort()));

test.each(CASES)("$provider reports its windows, and receives the login", async ({ provider, login, answers, reported, sent }) => {
  await using made = await world({ [provider]: login }, answers);
  const report = await made.quota.load();
  expect(report.providers).toEqual([{ provider, displayName: expect.any(String), ...reported }]);
  for (const { headers } of made.server.asked) expect(headers["user-agent"]).toBe("openclaw/1.2.3");
  if (sent) expect(made.server.asked[0]?.headers).toMatchObject(sent);
});

describe("whom it asks", () => {
  test("nobody without a credential, and a key that has no allowance is sent nowhere", async () => {
    await using made = await world({ anthropic: { apiKey: "sk-ant-api-1", type: "api_key" } }, {});
    expect([(await made.quota.load()).providers, made.server.asked]).toEqual([[], []]);
  });

  test("the key of a coding plan comes before the provider's own", async () => {
    await using made = await world({ minimax: { apiKey: "own-key-1234", type: "api_key" } }, {}, { env: () => ({ MINIMAX_CODE_PLAN_KEY: "plan-key-1234" }) });
    await made.quota.load({ providers: ["minimax"] });
    expect(made.server.asked[0]?.headers["authorization"]).toBe("Bearer plan-key-1234");
  });

  test("only those that are asked for", async () => {
    await using made = await world({ zai: { apiKey: "zai-key-123456", type: "api_key" }, anthropic: { apiKey: "sk-ant-oat01-x" } }, {});
    expect((await made.quota.load({ providers: ["zai"] })).providers.map(({ provider }) => provider)).toEqual(["zai"]);
  });
});

describe("what goes wrong is reported and fails nothing else", () => {
  const ZAI = "GET https://api.z.ai/api/monitor/usage/quota/limit";
  const zai = { zai: { apiKey: "zai-key-123456", type: "api_key" as const } };

  test.each<[string, Answer, RegExp]>([
    ["a login that is not accepted", { status: 401, body: { error: "no" } }, /not accepted.*401/],
    ["a refusal with the status 200", { body: { code: 401, msg: "token zai-key-123456 expired", success: false } }, /^token \*\*\* expired$/],
    ["a server in trouble", { status: 503, body: { message: "later" } }, /503: later/],
    ["a page instead of JSON", { body: "<html>" }, /not JSON/],
    ["an answer far too long", { body: "x".repeat(2_000_000) }, /larger than/],
    ["a redirect", { status: 302, body: "", headers: { location: "https://elsewhere.example/" } }, /the request to .* failed/],
    ["a reset", "reset", /the request to .* failed/],
  ])("%s", async (_name, answer, words) => {
    await using made = await world(zai, { [ZAI]: answer });
    made.redactor.register("zai-key-123456");
    expect((await made.quota.load()).providers).toMatchObject([{ provider: "zai", windows: [], error: expect.stringMatching(words) }]);
  });

  test("one that is silent is given up after the time for it, while another answers", async () => {
    const minimax = { minimax: { apiKey: "minimax-key-123", type: "api_key" as const } };
    const plan = { body: { model_remains: [{ current_interval_total_count: 0, current_interval_remaining_percent: 92 }] } };
    await using made = await world(
      { ...zai, ...minimax },
      { [ZAI]: "silent", "GET https://api.minimaxi.com/v1/api/openplatform/coding_plan/remains": plan },
      { clock: systemClock },
    );
    expect((await made.quota.load({ timeoutMs: 1000 })).providers).toMatchObject([
      { provider: "minimax", windows: [{ label: "5h", usedPercent: 8 }] },
      { provider: "zai", windows: [], error: "no response within 1000 ms" },
    ]);
  });
});

test("an answer is good for a minute, an error for ten seconds, and those who ask together ask once", async () => {
  const clock = manualClock();
  let status = 500;
  await using server = await startJsonServer({
    "GET https://api.z.ai/api/monitor/usage/quota/limit": () => ({ status, body: { data: { limits: [{ type: "TIME_LIMIT", percentage: 7 }] } } }),
  });
  const auth = authWith({ zai: { apiKey: "zai-key-123456", type: "api_key" } });
  const quota = createQuota({ auth, env: () => ({}), clock, redactor: createRedactor(), version: "1", fetch: server.fetch });
  await Promise.all([quota.load(), quota.load()]);
  await quota.load();
  expect(server.asked).toHaveLength(1);
  status = 200;
  clock.advance(10_001);
  expect((await quota.load()).providers).toMatchObject([{ windows: [{ usedPercent: 7 }] }]);
  clock.advance(59_000);
  await quota.load();
  expect(server.asked).toHaveLength(2);
  clock.advance(1001);
  await quota.load();
  expect(server.asked).toHaveLength(3);
});
