import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { equalSecrets } from "../../src/base/equal-secrets.ts";
import { checkHooks } from "../../src/gateway/http/hooks.ts";
import { visit } from "../harness/device-client.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { ask, bearer, configText, start, TOKEN, type StartConfig } from "./start.ts";
import { startTelegramGateway, WEBHOOK_ORIGIN } from "./telegram-gateway.ts";

const EMPTY = ["", " ", "\t\n"];
const PATIENCE = { timeout: 20_000, interval: 50 };

test.each([
  ["no token", { hooks: { enabled: true } }],
  ["an empty token", { hooks: { enabled: true, token: "" } }],
  ["a blank token", { hooks: { enabled: true, token: "   " } }],
  ["the gateway's own token", { hooks: { enabled: true, token: TOKEN } }],
  ["a signed mapping without a secret", { hooks: { enabled: true, token: "hook-token-0123456789", mappings: [{ preset: "github" }] } }],
  ["a signed mapping with a blank secret", { hooks: { enabled: true, token: "hook-token-0123456789", mappings: [{ preset: "stripe", secret: " " }] } }],
  ["the root as their path", { hooks: { enabled: true, token: "hook-token-0123456789", path: "/" } }],
] satisfies [string, StartConfig][])("22: with hooks on and %s the gateway does not start, and says which setting to change", async (_name, config) => {
  const place = makePlace();
  place.configure(configText(config));
  await using gateway = await place.gateway();
  expect((await gateway.exited).code).toBe(1);
  expect(gateway.output()).toMatch(/hooks\.(?:token|path|mappings\[0\]\.secret|mappings\.0\.secret)/);
  expect(gateway.output()).not.toContain(TOKEN);
});

test("22: the gateway itself refuses hooks without a token, no matter who checked the configuration before", () => {
  for (const token of [undefined, ...EMPTY]) {
    const config = { hooks: { enabled: true, ...(token === undefined ? {} : { token }) } };
    expect(() => checkHooks(config), JSON.stringify(token)).toThrow(/hooks\.token/);
  }
  expect(() => checkHooks({ hooks: { enabled: true, token: TOKEN }, gateway: { auth: { token: TOKEN } } })).toThrow(/must differ/);
  expect(() => checkHooks({ hooks: { enabled: true, token: "hook-token-0123456789" } })).not.toThrow();
  for (const secret of [undefined, ...EMPTY]) {
    const mappings = [{ preset: "github" as const, ...(secret === undefined ? {} : { secret }) }];
    expect(() => checkHooks({ hooks: { enabled: true, token: "hook-token-0123456789", mappings } })).toThrow(/hooks\.mappings\[0\]\.secret/);
  }
});

test("22: a token that is emptied while running opens nothing", async () => {
  const secret = "hook-token-0123456789";
  await using gateway = await start({ hooks: { enabled: true, token: secret } });
  const post = (headers: Record<string, string>) => ask(gateway.url, "/hooks/wake", { method: "POST", headers, body: "{}" });
  expect((await post(bearer(secret))).status).toBe(400);
  gateway.place.configure(configText({ hooks: { enabled: true, token: "" } }));
  await gateway.process.waitFor(/configuration changed|config reload skipped/);
  const skipped = gateway.process.output().includes("config reload skipped");
  for (const value of ["", " ", "undefined", "null", "[object Object]"]) {
    for (const headers of [{ authorization: `Bearer ${value}` }, { "x-openclaw-token": value }, {}] as Record<string, string>[])
      expect([401, 429]).toContain((await post(headers)).status);
  }
  // A configuration that would open the door is not taken over; then the old secret still counts, else none does.
  if (!skipped) expect((await post(bearer(secret))).status).not.toBe(400);
});

test.each(EMPTY.map((token) => ({ token, name: JSON.stringify(token) })))(
  "22: $name as the gateway's own token is no token: one is made, and an empty one opens nothing",
  async ({ token }) => {
    await using gateway = await start({ gateway: { auth: { token } } });
    for (const value of ["", " ", "undefined"]) {
      await using client = await visit(gateway.url, { token: value, scopes: ["operator.admin"] });
      expect(client.answer.ok).toBe(false);
      expect((await ask(gateway.url, "/v1/models", { headers: { authorization: `Bearer ${value}` } })).status).toBe(401);
    }
    expect((await ask(gateway.url, "/v1/models")).status).toBe(401);
    const written = readFileSync(gateway.place.configPath, "utf8");
    const made = /"token": ?"([0-9a-f]{64})"/.exec(written)?.[1];
    expect(made, written).toBeDefined();
    expect((await ask(gateway.url, "/v1/models", { headers: bearer(made!) })).status).toBe(200);
  },
);

test("22: an empty secret equals nothing, not even another empty one, wherever it came from", () => {
  for (const presented of ["", " ", "undefined"]) expect(equalSecrets(presented, "")).toBe(false);
  expect(equalSecrets("a", "a")).toBe(true);
});

test("22: password mode without a password lets nobody in", async () => {
  const place = makePlace();
  place.configure(configText({ gateway: { auth: { mode: "password" } } }));
  await using gateway = await place.gateway();
  if (gateway.url === undefined) return expect(gateway.output()).toContain("gateway.auth");
  for (const password of [undefined, "", "undefined", "null"]) {
    await using client = await visit(gateway.url, { password, scopes: ["operator.admin"] });
    expect(client.answer.ok).toBe(false);
    expect((await ask(gateway.url, "/v1/models", { headers: { authorization: `Bearer ${password ?? ""}` } })).status).toBe(401);
  }
});

const WRONG_SECRETS: readonly (readonly [string, object])[] = [
  ["none", {}],
  ["empty", { webhookSecret: "" }],
  ["blank", { webhookSecret: " \t" }],
  ["with other signs", { webhookSecret: "päss wörd" }],
];

test.each(WRONG_SECRETS)(
  "22: a Telegram webhook whose secret is %s does not start: nobody listens, Telegram is not notified, and the account says why",
  async (_name, secret) => {
    // Held meanwhile: no one else takes the port, and a listener of the gateway would fail with another reason.
    const held = createServer().listen(0, "127.0.0.1");
    await once(held, "listening");
    const { port: webhookPort } = held.address() as AddressInfo;
    const webhook = { webhookUrl: `${WEBHOOK_ORIGIN}/telegram-webhook`, webhookPort };
    const knock = () => fetch(`http://127.0.0.1:${webhookPort}/telegram-webhook`, { method: "POST", body: "{}" });
    await using at = await startTelegramGateway(({ me }) => ({ ...webhook, ...secret, allowFrom: [me.id] }));
    await expect.poll(async () => (await at.gateway.account("telegram"))?.lastError, PATIENCE).toContain("webhookSecret");
    expect((await at.gateway.account("telegram"))?.running).toBe(false);
    held.close();
    await once(held, "close");
    expect([at.telegram.calls("setWebhook"), at.telegram.calls("getUpdates")]).toEqual([[], []]);
    // With one it does, so that the refusal means something.
    const { telegram: section } = at.gateway.sections["channels"] as { telegram: object };
    at.gateway.configure({ channels: { telegram: { ...section, webhookSecret: "long-and-random-0123456789" } } });
    await at.telegram.called("setWebhook");
    expect((await knock()).status).toBe(401);
  },
  60_000,
);
