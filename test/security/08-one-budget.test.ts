import { afterAll, beforeAll, expect, test } from "vitest";
import { createDevice } from "../harness/auth.ts";
import { enter, forwardedFrom, visit } from "../harness/device-client.ts";
import { ask, bearer, start, TOKEN, type Started } from "./start.ts";

let gateway: Started;
beforeAll(async () => {
  const hooks = { enabled: true, token: "hook-token-0123456789" };
  const http = { endpoints: { chatCompletions: { enabled: true } } };
  gateway = await start({ gateway: { trustedProxies: ["127.0.0.1"], auth: { token: TOKEN, rateLimit: { maxAttempts: 10 } }, http }, hooks });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const LOCKED = "unauthorized: too many failed authentication attempts (retry later)";

/** Every way to present a wrong secret over the wire; each counts one failure. */
const GUESSES: readonly ((from: string) => Promise<unknown>)[] = [
  (from) => guess({ device: null, token: "guess" }, from),
  (from) => guess({ device: null, password: "guess" }, from),
  (from) => guess({ device: null, token: "guess", password: "bogus" }, from),
  (from) => guess({ device: createDevice(), token: "guess" }, from),
  (from) => guess({ device: createDevice(), token: "guess", role: "node" }, from),
  (from) => guess({ device: createDevice(), password: "guess" }, from),
  (from) => ask(gateway.url, "/v1/models", { headers: { ...bearer("guess"), ...forwardedFrom(from) } }),
  (from) => ask(gateway.url, "/tools/invoke", { method: "POST", headers: { ...bearer("guess"), ...forwardedFrom(from) }, body: "{}" }),
  (from) => ask(gateway.url, "/v1/chat/completions", { method: "POST", headers: { ...bearer("guess"), ...forwardedFrom(from) }, body: "{}" }),
  (from) => ask(gateway.url, "/__openclaw__/canvas", { headers: { ...bearer("guess"), ...forwardedFrom(from) } }),
];

async function guess(how: Parameters<typeof visit>[1], from: string): Promise<void> {
  await using client = await visit(gateway.url, { scopes: ["operator.read"], ...how, from });
  expect(client.answer.ok).toBe(false);
}

async function expectLocked(from: string): Promise<void> {
  await using client = await visit(gateway.url, { token: TOKEN, scopes: ["operator.read"], from });
  expect(client.answer.error?.message).toBe(LOCKED);
  const reply = await ask(gateway.url, "/v1/models", { headers: { ...bearer(TOKEN), ...forwardedFrom(from) } });
  expect(reply.status).toBe(429);
  expect(Number(reply.headers["retry-after"])).toBeGreaterThan(200);
}

test("8: ten wrong secrets in ten forms are one budget; then even the right one is refused, over both protocols", async () => {
  const from = "198.51.100.1";
  for (const [index, form] of GUESSES.entries()) {
    if (index === 9) {
      const reply = await ask(gateway.url, "/v1/models", { headers: { ...bearer(TOKEN), ...forwardedFrom(from) } });
      expect(reply.status).toBe(200);
    }
    await form(from);
  }
  await expectLocked(from);
});

test.each(GUESSES.map((_, form) => form))("8: form %i counts by itself, however its address is written", async (form) => {
  const spellings = (n: number): string => [`203.0.113.${n}`, `::ffff:203.0.113.${n}`, `::ffff:cb00:71${n.toString(16).padStart(2, "0")}`][n % 3]!;
  const n = 100 + form;
  const written = [`203.0.113.${n}`, `::ffff:203.0.113.${n}`, `10.9.9.9, 203.0.113.${n}`, spellings(n)];
  for (let count = 0; count < 10; count += 1) await GUESSES[form]!(written[count % written.length]!);
  for (const from of written) await expectLocked(from);
});

test("8: guesses side by side over many sockets are one budget", async () => {
  const from = "198.51.100.77";
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      await using client = await visit(gateway.url, { device: n % 2 === 0 ? null : createDevice(), token: `guess-${n}`, scopes: ["operator.read"], from });
      return client.answer.error!.message;
    }),
  );
  expect(answers.filter((message) => message !== LOCKED)).toHaveLength(10);
});

test("8: a right secret in between does not give the budget back", async () => {
  const from = "198.51.100.78";
  for (let n = 0; n < 10; n += 1) {
    await guess({ device: null, token: "guess" }, from);
    if (n < 9) await (await enter(gateway.url, { device: null, token: TOKEN, from }))[Symbol.asyncDispose]();
  }
  await expectLocked(from);
});

test("8: others are not locked out with it, and neither is this machine", async () => {
  for (let n = 0; n < 10; n += 1) await guess({ device: null, token: "guess" }, "198.51.100.79");
  await expectLocked("198.51.100.79");
  await using other = await enter(gateway.url, { device: null, token: TOKEN, from: "198.51.100.80" });
  expect(other.answer.ok).toBe(true);
  await using local = await enter(gateway.url, { token: TOKEN, scopes: ["operator.read"] });
  expect((await local.ask("health")).ok).toBe(true);
});

test("8: tokens of hooks have a budget of their own forms too", async () => {
  const from = forwardedFrom("198.51.100.81");
  for (let n = 0; n < 20; n += 1) {
    const headers = n % 2 === 0 ? bearer("guess") : { "x-openclaw-token": "guess" };
    expect((await ask(gateway.url, "/hooks/wake", { method: "POST", headers: { ...headers, ...from }, body: "{}" })).status).toBe(401);
  }
  const right = { ...bearer("hook-token-0123456789"), ...from };
  expect((await ask(gateway.url, "/hooks/wake", { method: "POST", headers: right, body: "{}" })).status).toBe(429);
});
