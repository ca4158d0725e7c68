/** What HTTP callers get when a run fails, and when the gateway goes down under them. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startModelServer, STREAMS, type ModelServer } from "../fakes/model-server/index.ts";
import type { Behaviour } from "../fakes/model-server/server.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const words = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `word${at} `);
const framesOf = STREAMS["openai-completions"]!;
const spoken = (text: readonly string[]): Behaviour & { kind: "stream" } => ({ kind: "stream", frames: framesOf({ text }) });

/** Each provider behaves in its own way. */
const PROVIDERS: Readonly<Record<string, Behaviour>> = {
  unauthorized: { kind: "status", status: 401, body: { error: { message: "Incorrect API key provided", type: "invalid_request_error" } } },
  abroad: { kind: "status", status: 403, body: { error: { message: "Not here", code: "unsupported_country_region_territory" } } },
  unpaid: { kind: "status", status: 402, body: { error: { message: "Insufficient credits" } } },
  limited: { kind: "status", status: 429, headers: { "retry-after": "61" }, body: { error: { message: "Rate limit reached for requests" } } },
  overflowing: { kind: "status", status: 400, body: { error: { message: "maximum context length is 8192 tokens", code: "context_length_exceeded" } } },
  garbled: { kind: "stream", frames: ["data: this is no JSON\n\n"] },
  broken: { kind: "status", status: 500, body: { error: { message: "boom" } } },
  well: spoken(["all ", "well"]),
  slow: { ...spoken(words(12)), gapMs: 150 },
  endless: { kind: "stall", after: framesOf({ text: ["the beginning …"] }).slice(0, 2), keepAliveMs: 500 },
};

const CALLS = ["chat", "chat-streamed", "responses", "responses-streamed"] as const;

const models = [{ id: "m1", name: "One", contextWindow: 200_000, maxTokens: 4096, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }];

function configOf(url: string): string {
  // A provider and an agent for each call: a credential that rests after one concerns no other.
  const names = Object.keys(PROVIDERS).flatMap((name) => [name, ...CALLS.map((call) => `${name}-${call}`)]);
  const providers = Object.fromEntries(names.map((name) => [name, { baseUrl: `${url}/${name}`, apiKey: "a-key", api: "openai-completions", models }]));
  const list = [
    ...names.map((id) => ({ id, model: { primary: `${id}/m1` } })),
    ...CALLS.map((call) => ({ id: `broke-${call}`, model: { primary: "well/m1" } })),
  ];
  return JSON.stringify({
    gateway: {
      mode: "local",
      auth: { mode: "token", token: TOKEN },
      http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } },
    },
    models: { providers },
    agents: { defaults: { maxConcurrent: 8 }, list },
    usage: { budgets: CALLS.map((call) => ({ per: "day", tokens: 1, agent: `broke-${call}`, sender: "webchat" })) },
  });
}

const byProvider = ({ path }: { readonly path: string }): Behaviour => PROVIDERS[/^\/([a-z]+)/.exec(path)![1]!]!;

let place: Place;
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer(byProvider);
  place = makePlace();
  place.configure(configOf(server.url));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(place.home, { recursive: true, force: true, maxRetries: 3 });
});

interface Api {
  readonly name: "chat" | "responses";
  readonly path: string;
  body(agent: string, stream: boolean): object;
  /** The error in the events of a stream. */
  errorIn(text: string): { readonly code?: string; readonly message?: string } | undefined;
}

const eventsIn = (text: string): readonly Record<string, unknown>[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as Record<string, unknown>] : []));

const APIS: readonly Api[] = [
  {
    name: "chat",
    path: "/v1/chat/completions",
    body: (agent, stream) => ({ model: `openclaw:${agent}`, stream, messages: [{ role: "user", content: "hello" }] }),
    errorIn: (text) => eventsIn(text).find((event) => "error" in event)?.["error"] as object | undefined,
  },
  {
    name: "responses",
    path: "/v1/responses",
    body: (agent, stream) => ({ model: `openclaw:${agent}`, stream, input: "hello" }),
    errorIn: (text) => (eventsIn(text).find(({ type }) => type === "response.failed")?.["response"] as { readonly error?: object } | undefined)?.error,
  },
];

function ask(gateway: GatewayProcess, api: Api, agent: string, stream: boolean, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(gateway.url!.replace(/^ws/, "http").replace(/\/$/, "") + api.path, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(api.body(agent, stream)),
  });
}

const FAILURES = [
  { agent: "unauthorized", status: 502, code: "provider_auth", text: /Incorrect API key/ },
  { agent: "abroad", status: 502, code: "provider_auth", text: /Not here.*does not serve the region.*the key is not the cause/ },
  { agent: "unpaid", status: 402, code: "provider_billing", text: /credit/ },
  { agent: "limited", status: 429, code: "rate_limit_exceeded", text: /Rate limit/ },
  { agent: "broke", status: 402, code: "budget_exceeded", text: /budget/i },
] as const;

describe("a failed run", () => {
  let gateway: GatewayProcess;
  beforeAll(async () => {
    gateway = await place.gateway();
    // Any call uses these budgets up.
    for (const call of CALLS) expect((await ask(gateway, APIS[0]!, `broke-${call}`, false)).status).toBe(200);
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test.each(FAILURES.flatMap((failure) => APIS.map((api) => ({ ...failure, api, path: api.path }))))(
    "$agent over $path is $status with a code and the reason, and the same in a stream",
    async ({ agent, api, status, code, text }) => {
      const whole = await ask(gateway, api, `${agent}-${api.name}`, false);
      const { error } = (await whole.json()) as { error: { code: string; type: string; message: string } };
      expect([whole.status, error.code, error.message]).toEqual([status, code, expect.stringMatching(text)]);
      expect(error.type).toEqual(expect.any(String));
      const streamed = await (await ask(gateway, api, `${agent}-${api.name}-streamed`, true)).text();
      expect(api.errorIn(streamed)).toMatchObject({ code, message: expect.stringMatching(text) });
      expect(streamed).toMatch(/data: \[DONE\]\n\n$/);
    },
  );

  test("a server error and a bad answer are no time-outs, and a budget is no matter of the connection: for callers and in why", async () => {
    // At the same time: the provider is asked several times, with pauses.
    const answers = await Promise.all(["garbled", "broken", "broke-chat"].map((agent) => ask(gateway, APIS[0]!, agent, false)));
    const found = await Promise.all(answers.map(async (answer) => [answer.status, ((await answer.json()) as { error: { code: string } }).error.code]));
    expect(found).toEqual([
      [502, "provider_bad_answer"],
      [502, "provider_error"],
      [402, "budget_exceeded"],
    ]);
    const { stdout } = await place.start("why", "recent", "--last", "3");
    expect(stdout).toMatch(/garbled\/m1: bad answer: .*not JSON/);
    expect(stdout).toMatch(/broken\/m1: server error: .*boom/);
    expect(stdout).not.toContain("timeout");
    expect(stdout.split("openclaw models status")).toHaveLength(3);
    expect(stdout).toMatch(/budget per day[^]*check the budgets: .*openclaw models budgets/);
  });

  test("a rate limit says when to try again", async () => {
    // The provider's own wait, and when nobody is asked any more, what is left of the credential's rest.
    for (const _ of ["asked", "resting"]) {
      const { headers } = await ask(gateway, APIS[0]!, "limited", false);
      const seconds = Number(headers.get("retry-after"));
      expect([seconds > 30, seconds <= 61, Number.isInteger(seconds)]).toEqual([true, true, true]);
    }
  });
});

test("SIGTERM lets streams end, tells what cannot, refuses what is new; what was cut off goes on after the restart", { timeout: 60_000 }, async () => {
  const gateway = await place.gateway();
  const [chat, responses] = APIS as readonly [Api, Api];
  const key = { "idempotency-key": "a-run-that-goes-on" };
  const slow = [await ask(gateway, chat, "slow", true), await ask(gateway, responses, "slow", true)];
  const endless = [await ask(gateway, chat, "endless", true, key), await ask(gateway, responses, "endless", true)];
  const whole = ask(gateway, chat, "endless", false);
  await expect.poll(() => server.requests.filter(({ path }) => path.startsWith("/endless")).length).toBe(3);
  gateway.child.kill("SIGTERM");
  await expect.poll(async () => (await ask(gateway, chat, "well", false)).status).toBe(503);
  const refused = await ask(gateway, chat, "well", false);
  expect([refused.headers.get("retry-after"), refused.headers.get("connection")]).toEqual(["5", "close"]);
  expect(await refused.json()).toEqual({ error: { message: expect.stringContaining("restarting"), type: "unavailable", code: "RESTARTING" } });
  for (const stream of slow) {
    const text = await stream.text();
    expect(text).toContain("word11");
    expect([text.includes('error":{'), text.endsWith("data: [DONE]\n\n")]).toEqual([false, true]);
  }
  for (const [at, stream] of endless.entries()) {
    const text = await stream.text();
    expect(text).toContain("the beginning");
    expect(APIS[at]!.errorIn(text)).toMatchObject({ code: "RESTARTING", message: expect.stringContaining("continues after the restart") });
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
  }
  const left = await whole;
  expect([left.status, left.headers.get("retry-after"), await left.json()]).toEqual([503, "5", { error: expect.objectContaining({ code: "RESTARTING" }) }]);
  expect(await gateway.exited).toEqual({ code: 0, signal: null });

  server.play(spoken(["the end"]));
  onTestFinished(() => server.play(byProvider));
  await using again = await place.gateway();
  const { choices } = (await (await ask(again, chat, "endless", false, key)).json()) as { choices: readonly { message: { content: string } }[] };
  expect(choices[0]?.message.content).toContain("the end");
});
