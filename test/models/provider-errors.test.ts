import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { afterFailure, isTransient, cooldownFor, cooldownMs, cooldownRules } from "../../src/models/auth/cooldowns.ts";
import { EMPTY_DOCUMENT } from "../../src/models/auth/document.ts";
import { createDrivers } from "../../src/models/call/driver.ts";
import { failureOf, type ModelFailure } from "../../src/models/failure.ts";
import { startsCooldown, retryLimit } from "../../src/models/failover/decide.ts";
import { classify, type FailureClass } from "../../src/models/failover/classify.ts";
import { WIRE_APIS } from "../../src/models/wire/index.ts";
import { startModelServer, type Behaviour, type ModelServer } from "../fakes/model-server/index.ts";

/** How a credential rests: not at all, at most a minute in memory, hours, or on the ladder (for as long as was asked, where that was said). */
type Rest = "none" | "memory" | "hours" | "ladder";

interface Expected {
  readonly kind: FailureClass;
  readonly retryAfterMs?: number;
}

interface Fixture {
  /** The time at which all of it happens. */
  readonly now: string;
  readonly responses: readonly (Expected & {
    readonly provider: string;
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: unknown;
    readonly rest: Rest;
  })[];
  readonly streams: readonly (Expected & { readonly api: string; readonly frames: readonly string[] })[];
  readonly connections: readonly { readonly code: string; readonly kind: FailureClass; readonly retries?: number }[];
}

const FIXTURE = JSON.parse(readFileSync(new URL("../fixtures/models/provider-errors.json", import.meta.url), "utf8")) as Fixture;
const NOW = Date.parse(FIXTURE.now);
const DAY_MS = 86_400_000;
const RULES = cooldownRules({}, "test", (provider) => provider);
const API_OF: Readonly<Record<string, string>> = {
  Anthropic: "anthropic-messages",
  Gemini: "google-generative-ai",
  OpenAI: "openai-responses",
  "OpenAI Codex": "openai-responses",
  Ollama: "ollama",
};

let server: ModelServer;
beforeAll(async () => void (server = await startModelServer()));
afterAll(() => server[Symbol.asyncDispose]());

/** One call over a real socket, through the reader of its wire format, to what is known about its failure. */
async function failureOver(api: string, behaviour: Behaviour): Promise<ModelFailure> {
  server.play(behaviour);
  const clock: Clock = { ...systemClock, now: () => NOW };
  const model = { provider: "test", id: "m", name: "m", api, baseUrl: server.url, reasoning: false, input: ["text" as const], source: "config" as const };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const request = {
    model: { ...model, cost, contextWindow: 100_000, maxTokens: 1_000 },
    messages: [{ role: "user" as const, content: "hello", timestamp: 1 }],
    thinking: "off" as const,
    apiKey: "secret-of-this-test",
  };
  const drivers = createDrivers({ other: () => Promise.reject(new Error("none")) });
  try {
    for await (const _ of drivers.stream(request, new Map(), { clock, headersMs: 20_000, progressMs: 20_000 }));
  } catch (error) {
    const failure = failureOf(error);
    if (failure) return failure;
    throw error;
  }
  throw new Error("the call succeeded");
}

/** What becomes of the credential. */
function restAfter(failure: ModelFailure, kind: FailureClass): { readonly rest: Rest; readonly ms: number } {
  if (!startsCooldown(failure, kind)) return { rest: "none", ms: 0 };
  if (isTransient(kind)) return { rest: "memory", ms: cooldownMs(kind, 1, RULES) };
  const facts = { id: "k", isProfile: false, modelId: "m", kind, now: NOW, retryAfterMs: failure.retryAfterMs };
  const ms = cooldownFor(afterFailure(EMPTY_DOCUMENT, facts, RULES), "k", "m", NOW)!.until - NOW;
  return { rest: kind === "billing" ? "hours" : "ladder", ms };
}

test("the table is of use: many rows, every wire format, every class that a provider can cause", () => {
  const { responses, streams, connections } = FIXTURE;
  expect(responses.length + streams.length + connections.length).toBeGreaterThanOrEqual(400);
  expect(new Set(streams.map(({ api }) => api))).toEqual(new Set(WIRE_APIS));
  const kinds = new Set<FailureClass>([...responses, ...streams, ...connections].map(({ kind }) => kind));
  for (const kind of ["auth", "billing", "rate_limit", "overloaded", "timeout", "network", "format", "context_overflow"] as const)
    expect(kinds).toContain(kind);
});

describe("an answer with a status", () => {
  test.each(FIXTURE.responses.map((row, at) => [`${at} ${row.provider} ${row.status} ${JSON.stringify(row.body).slice(0, 90)}`, row] as const))(
    "%s",
    async (_, { provider, status, headers, body, kind, rest, retryAfterMs }) => {
      const failure = await failureOver(API_OF[provider] ?? "openai-completions", { kind: "status", status, body, ...(headers ? { headers } : {}) });
      expect(classify(failure)).toBe(kind);
      expect(failure.retryAfterMs).toBe(retryAfterMs);
      const found = restAfter(failure, kind);
      expect(found.rest).toBe(rest);
      if (rest === "ladder")
        expect(found.ms).toBe(
          kind === "rate_limit" && retryAfterMs !== undefined
            ? Math.min(Math.max(retryAfterMs, 1_000), DAY_MS)
            : Math.min(Math.max(60_000, retryAfterMs ?? 0), DAY_MS),
        );
      if (rest === "memory") expect(found.ms).toBeLessThanOrEqual(60_000);
      if (rest === "hours") expect(found.ms).toBeGreaterThanOrEqual(5 * 3_600_000);
    },
  );
});

describe("an error inside a stream", () => {
  test.each(FIXTURE.streams.map((row, at) => [`${at} ${row.api} ${row.frames.join(" ").slice(0, 90)}`, row] as const))(
    "%s",
    async (_, { api, frames, kind, retryAfterMs }) => {
      const failure = await failureOver(api, { kind: "cut", after: frames });
      expect(classify(failure)).toBe(kind);
      expect(failure.retryAfterMs).toBe(retryAfterMs);
    },
  );
});

test.each(FIXTURE.connections)("a connection that fails with $code is $kind", ({ code, kind, retries }) => {
  const failure: ModelFailure = { phase: "connect", code, text: `the connection failed: ${code}` };
  expect(classify(failure)).toBe(kind);
  expect(retryLimit(failure, kind)).toBe(retries);
});
