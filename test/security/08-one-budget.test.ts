import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { createAttempts, LONGEST_WAIT_MS } from "../../src/gateway/auth/credentials.ts";
import { peerOf } from "../../src/gateway/auth/peer/peer.ts";
import { createFailureBudget } from "../../src/gateway/auth/rate-limit.ts";
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

const HERE = peerOf({ headers: { host: "127.0.0.1" }, socket: { remoteAddress: "127.0.0.1" } }, []);
const THERE = peerOf({ headers: { host: "gw.example" }, socket: { remoteAddress: "203.0.113.9" } }, []);

function attemptsWith(exemptLoopback = true) {
  const clock = manualClock();
  const rateLimit = { maxAttempts: 10, windowMs: 60_000, lockoutMs: 300_000, exemptLoopback };
  return { clock, attempts: createAttempts({ settings: () => ({ rateLimit }), clock, budget: createFailureBudget(() => rateLimit, clock) }) };
}

/** Milliseconds that a secret of this peer waits before it is looked at. */
async function waitOf({ clock, attempts }: ReturnType<typeof attemptsWith>, peer = HERE): Promise<number> {
  let done = false;
  const before = clock.monotonic();
  const paced = attempts.pace(peer).then(() => (done = true));
  for (let step = 0; step < 10_000; step += 50) {
    await Promise.resolve();
    await Promise.resolve();
    if (done) break;
    clock.advance(50);
  }
  await paced;
  return clock.monotonic() - before;
}

test("8: guesses from this machine are slowed down more and more, up to a bound, and lock nobody out", async () => {
  const place = attemptsWith();
  const waits: number[] = [];
  for (let guess = 0; guess < 40; guess += 1) {
    waits.push(await waitOf(place));
    place.attempts.fail(HERE);
    expect(place.attempts.lockedFor(HERE)).toBeUndefined();
  }
  expect(waits.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  expect(waits.slice(5)).toEqual(waits.slice(5).toSorted((a, b) => a - b));
  expect([waits[5]! > 0, waits.at(-1)]).toEqual([true, LONGEST_WAIT_MS]);
  // Elsewhere nobody waits for that, and a minute later nobody does.
  expect(await waitOf(place, THERE)).toBe(0);
  place.clock.advance(60_000);
  expect(await waitOf(place)).toBe(0);
});

test("8: guesses side by side from this machine slow each other down", async () => {
  const { clock, attempts } = attemptsWith();
  let looked = 0;
  for (let n = 0; n < 5; n += 1) attempts.fail(HERE);
  const guesses = Array.from({ length: 20 }, () => attempts.pace(HERE).then(() => (looked += 1)));
  const lookedAfter = async (ms: number): Promise<number> => {
    clock.advance(ms);
    for (let n = 0; n < 10; n += 1) await Promise.resolve();
    return looked;
  };
  expect([await lookedAfter(0), await lookedAfter(99), await lookedAfter(1)]).toEqual([0, 0, 1]);
  expect(await lookedAfter(LONGEST_WAIT_MS - 101)).toBeLessThan(10);
  await lookedAfter(1);
  await Promise.all(guesses);
  expect(looked).toBe(20);
});

test("8: remote addresses are locked out as before, and so is this machine where the configuration says it", () => {
  const { attempts } = attemptsWith(false);
  for (const peer of [HERE, THERE]) {
    for (let n = 0; n < 10; n += 1) attempts.fail(peer);
    expect(attempts.lockedFor(peer)).toBeGreaterThan(0);
  }
});

test("8: while another user on this machine guesses, its owner gets in with the right secret, over both protocols", async () => {
  await using own = await start({ hooks: { enabled: true, token: "hook-token-0123456789" } });
  const guesses = Array.from({ length: 40 }, (_, n) =>
    n % 2 === 0
      ? ask(own.url, "/v1/models", { headers: bearer(`guess-${n}`) })
      : ask(own.url, "/hooks/wake", { method: "POST", headers: bearer(`guess-${n}`), body: "{}" }),
  );
  await using client = await enter(own.url, { token: TOKEN, scopes: ["operator.read"] });
  expect((await client.ask("health")).ok).toBe(true);
  expect((await ask(own.url, "/v1/models", { headers: bearer(TOKEN) })).status).toBe(200);
  expect((await ask(own.url, "/hooks/wake", { method: "POST", headers: bearer("hook-token-0123456789"), body: "{}" })).status).toBe(400);
  for (const { status } of await Promise.all(guesses)) expect(status).toBe(401);
});
