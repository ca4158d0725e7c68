import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startModelServer, STREAMS, type Behaviour, type ModelServer } from "../fakes/model-server/index.ts";
import { enter } from "../harness/device-client.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";

// Retries wait for seconds, and commands are processes of their own.
vi.setConfig({ testTimeout: 120_000 });

const API = "openai-completions";
const TOKEN = "token-of-this-test-0123456789";
const KEY_ID = "config:models.providers.acme.apiKey";
const OK: Behaviour = { kind: "stream", frames: STREAMS[API]!({ text: ["all ", "well"] }) };
const BAD_GATEWAY: Behaviour = { kind: "status", status: 502, body: "<html><head><title>502 Bad Gateway</title></head><body>rate limit</body></html>" };

function placeWith(server: ModelServer): Place {
  const place = makePlace();
  const model = { id: "large", name: "Large", contextWindow: 100_000, maxTokens: 1_000, input: ["text"], reasoning: false };
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { mode: "token", token: TOKEN } },
      agents: { defaults: { model: { primary: "acme/large" } } },
      models: { providers: { acme: { baseUrl: server.url, apiKey: "sk-example-0123456789abcdef", api: API, models: [model] } } },
    }),
  );
  return place;
}

type Client = Awaited<ReturnType<typeof enter>>;

/** Sends a message to a session of its own and waits for how it ends. */
async function ask(client: Client, session: string): Promise<string> {
  const runId = crypto.randomUUID();
  const sent = await client.request("chat.send", { sessionKey: `agent:main:${session}`, message: "hello", idempotencyKey: runId });
  if (!sent.ok) throw new Error(JSON.stringify(sent.error));
  const final = await client.next(
    ({ event, payload }) => event === "chat" && payload?.["runId"] === runId && ["final", "error"].includes(String(payload?.["state"])),
  );
  return JSON.stringify(final.payload);
}

async function withGateway(place: Place, use: (client: Client) => Promise<void>): Promise<void> {
  await using gateway = await place.gateway();
  if (gateway.url === undefined) throw new Error(gateway.output());
  {
    await using client = await enter(gateway.url, { token: TOKEN, scopes: ["operator.read", "operator.write"] });
    await use(client);
  }
  gateway.child.kill("SIGTERM");
  await gateway.exited;
}

const restsOf = (place: Place): { readonly id: string; readonly kind: string; readonly until: number; readonly reason?: string }[] =>
  (JSON.parse(place.cli("models", "auth", "status", "--json").stdout) as { rests: [] }).rests;

test("six sessions that meet 1.5 s of 502 are all answered, and nothing rests, neither then nor after a restart", async () => {
  let first: number | undefined;
  await using server = await startModelServer(() => {
    first ??= performance.now();
    return performance.now() - first < 1_500 ? BAD_GATEWAY : OK;
  });
  const place = placeWith(server);
  await withGateway(place, async (client) => {
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => ask(client, `talk-${n}`)));
    for (const answer of answers) expect(answer).toContain("all well");
    expect(server.requests.length).toBeGreaterThan(6);
    expect(restsOf(place)).toEqual([]);
  });
  await withGateway(place, async (client) => expect(await ask(client, "talk-0")).toContain("all well"));
});

test("a provider that stays down is named with its status; its key is shown at rest for less than a minute, can be cleared, and is asked again with the next message", async () => {
  await using server = await startModelServer(BAD_GATEWAY);
  const place = placeWith(server);
  await withGateway(place, async (client) => {
    const failed = await Promise.all(Array.from({ length: 3 }, (_, n) => ask(client, `talk-${n}`)));
    for (const text of failed) {
      expect(text).toContain("502");
      expect(text).not.toMatch(/check the key|log in again|rate limit/);
    }
    const [rest, ...others] = restsOf(place);
    expect(others).toEqual([]);
    expect(rest).toMatchObject({ id: KEY_ID, kind: "timeout", reason: expect.stringContaining("502") as string });
    expect(rest!.until - Date.now()).toBeLessThanOrEqual(60_000);
    server.play(OK);
    expect(await ask(client, "talk-0")).toContain("all well");
    expect(restsOf(place)).toEqual([]);
  });
  // The state of the failures is nowhere on disk.
  const file = join(place.stateDir, "agents/main/agent/auth-profiles.json");
  expect(() => readFileSync(file, "utf8").includes("timeout")).toThrow("ENOENT");
});

test("a rest that an older version wrote down after time-outs mutes nothing; one after a rate limit is shown, and models auth clear ends it", async () => {
  await using server = await startModelServer(OK);
  const place = placeWith(server);
  const folder = join(place.stateDir, "agents/main/agent");
  const until = Date.now() + 3_600_000;
  const write = (kind: string): void => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const modelFailures = { [KEY_ID]: { large: { [kind]: { count: 4, lastFailureAt: Date.now(), until } } } };
    writeFileSync(join(folder, "auth-profiles.json"), JSON.stringify({ version: 1, profiles: {}, modelFailures }), { mode: 0o600 });
  };
  write("timeout");
  await withGateway(place, async (client) => {
    expect(await ask(client, "main")).toContain("all well");
    write("rate_limit");
    const refused = await ask(client, "main");
    expect(refused).toContain("rate limit");
    expect(refused).toContain("openclaw models auth clear");
    expect(place.cli("models", "auth", "status").stdout).toMatch(/config:models\.providers\.acme\.apiKey +main +large +\S.* +rate limit/);
    expect(place.cli("models", "auth", "clear").stdout).toContain(`Cleared the cooldown of ${KEY_ID} for large`);
    expect(await ask(client, "main")).toContain("all well");
  });
  // Without a gateway the command works on the files.
  write("auth");
  expect(restsOf(place)).toMatchObject([{ id: KEY_ID, kind: "auth" }]);
  expect(place.cli("models", "auth", "clear", "--provider", "other").stdout).toBe("No cooldowns\n");
  expect(place.cli("models", "auth", "clear", "--provider", "acme").stdout).toContain(KEY_ID);
  expect(restsOf(place)).toEqual([]);
});
