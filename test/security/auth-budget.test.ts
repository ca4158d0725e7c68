import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PeerRequest } from "../../src/gateway/auth/index.ts";
import { createAuthBench, createDevice, local, remote, requestFrom, TOKEN, type AuthBench } from "../harness/auth.ts";

let bench: AuthBench;
beforeAll(async () => {
  bench = await createAuthBench({ auth: { token: TOKEN }, trustedProxies: ["10.0.0.1"] });
});
// Longer than any window or lockout: every test begins with a full budget.
beforeEach(() => bench.clock.advance(600_000));
afterAll(() => bench[Symbol.asyncDispose]());

const LOCKED = { ok: false, message: "unauthorized: too many failed authentication attempts (retry later)" };
const bearing = (request: PeerRequest, token: string) => ({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } }) as IncomingMessage;

/** Every way to present a wrong secret. */
const GUESSES: readonly ((request: PeerRequest) => Promise<unknown>)[] = [
  (request) => bench.connect(undefined, { auth: { token: "guess" } }, request),
  (request) => bench.connect(undefined, { auth: { password: "guess" } }, request),
  (request) => bench.connect(undefined, { auth: { token: "guess", password: "bogus" } }, request),
  (request) => bench.connect(createDevice(), { auth: { token: "guess" } }, request),
  (request) => bench.connect(createDevice(), { auth: { token: "guess" }, role: "node" }, request),
  (request) => bench.connect(createDevice(), { auth: { password: "guess" } }, request),
  (request) => bench.auth.bearer(bearing(request, "guess")),
  (request) => bench.auth.checkSecret({ token: "guess" }, bench.auth.peerOf(request)),
];

test("one budget holds for all forms of a secret", async () => {
  for (let n = 0; n < 10; n += 1) await GUESSES[n % GUESSES.length]!(remote());
  expect(await bench.connect(undefined, {}, remote())).toMatchObject(LOCKED);
  expect(await bench.connect(createDevice(), {}, remote())).toMatchObject(LOCKED);
  expect(await bench.auth.bearer(bearing(remote(), TOKEN))).toMatchObject({ ok: false, status: 429 });
  bench.clock.advance(300_000);
  expect(await bench.connect(undefined, {}, remote())).toMatchObject({ ok: true });
});

test.each(GUESSES.map((_, form) => form))("form %i of a wrong secret counts by itself", async (form) => {
  for (let n = 0; n < 10; n += 1) await GUESSES[form]!(remote());
  expect(await bench.connect(undefined, {}, remote())).toMatchObject(LOCKED);
});

test.each([
  ["IPv4 written as IPv6", "203.0.113.9", "::ffff:203.0.113.9"],
  ["the same in hexadecimal", "203.0.113.9", "::ffff:cb00:7109"],
  ["other addresses of one IPv6 network", "2001:db8::1", "2001:db8::dead:beef"],
  ["IPv6 with a zone", "fe80::1", "fe80::1%eth0"],
])("%s is the same address", async (_, first, second) => {
  for (let n = 0; n < 10; n += 1) await bench.connect(undefined, { auth: { token: "guess" } }, remote(n % 2 === 0 ? first : second));
  expect(await bench.connect(undefined, {}, remote(first))).toMatchObject(LOCKED);
  expect(await bench.connect(undefined, {}, remote(second))).toMatchObject(LOCKED);
});

test("headers do not make another address, unless a trusted proxy sent them", async () => {
  for (let n = 0; n < 10; n += 1) await bench.connect(undefined, { auth: { token: "guess" } }, remote("203.0.113.9", { "x-forwarded-for": `198.51.100.${n}` }));
  expect(await bench.connect(undefined, {}, remote("203.0.113.9", { "x-forwarded-for": "198.51.100.99" }))).toMatchObject(LOCKED);
  for (let n = 0; n < 10; n += 1)
    await bench.connect(undefined, { auth: { token: "guess" } }, remote("10.0.0.1", { "x-forwarded-for": `1.1.1.${n}, 198.51.100.7` }));
  expect(await bench.connect(undefined, {}, remote("10.0.0.1", { "x-forwarded-for": "198.51.100.7" }))).toMatchObject(LOCKED);
  expect(await bench.connect(undefined, {}, remote("10.0.0.1", { "x-forwarded-for": "198.51.100.8" }))).toMatchObject({ ok: true });
});

test("a proxy on this machine that nobody said to trust does not make guessing free", async () => {
  const proxied = requestFrom("127.0.0.1", { host: "gw.example.com", "x-forwarded-for": "198.51.100.7" });
  for (let n = 0; n < 10; n += 1) await bench.connect(undefined, { auth: { token: "guess" } }, proxied);
  expect(await bench.connect(undefined, {}, proxied)).toMatchObject(LOCKED);
  expect(await bench.connect(undefined, {}, local())).toMatchObject({ ok: true });
});

test("a right answer in between does not give the budget back", async () => {
  for (let n = 0; n < 10; n += 1) {
    await bench.connect(undefined, { auth: { token: "guess" } }, remote());
    if (n < 9) await bench.connect(undefined, {}, remote());
  }
  expect(await bench.connect(undefined, {}, remote())).toMatchObject(LOCKED);
});

test("guesses that run side by side are one budget", async () => {
  const device = createDevice();
  await bench.connect(device, { scopes: ["operator.read"] });
  const guesses = Array.from({ length: 100 }, (_, n) => bench.connect(device, { auth: { token: `guess ${n}` } }, remote()));
  const answers = await Promise.all(guesses);
  expect(answers.filter((answer) => !answer.ok && answer.message.includes("mismatch"))).toHaveLength(10);
  expect(answers.filter((answer) => !answer.ok && answer.message === LOCKED.message)).toHaveLength(90);
});

test("saying nothing is not a guess", async () => {
  for (let n = 0; n < 30; n += 1) await bench.connect(createDevice(), { auth: {} }, remote());
  expect(await bench.connect(undefined, {}, remote())).toMatchObject({ ok: true });
});

test("this machine is not locked out, unless the configuration says so", async () => {
  for (let n = 0; n < 30; n += 1) await bench.connect(undefined, { auth: { token: "guess" } }, local());
  expect(await bench.connect(undefined, {}, local())).toMatchObject({ ok: true });
  await using strict = await createAuthBench({ auth: { token: TOKEN, rateLimit: { exemptLoopback: false, maxAttempts: 3 } } });
  for (let n = 0; n < 3; n += 1) await strict.connect(undefined, { auth: { token: "guess" } }, local());
  expect(await strict.connect(undefined, {}, local())).toMatchObject(LOCKED);
});
