import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Verified, WebhookRequest } from "openclaw/plugin-sdk/channel-kit";
import { certificateOf, CHAT, jwtOf, signingKey, type TokenFacts } from "../../test/fakes/googlechat/index.ts";
import { createAccounts } from "./account.ts";
import { createKeys } from "./api.ts";
import { readKeys } from "./keys.ts";
import { type Bench, openBench, PROJECT } from "./testing.ts";
import { readJwt, verifyRequest } from "./verify.ts";

const URL_AUDIENCE = "https://claw.example.com/googlechat";
const STRANGER = signingKey("chat-1", 5);

let bench: Bench;
let keys: ReturnType<typeof createKeys>;
beforeEach(async () => {
  bench = await openBench();
  keys = createKeys({ apiRoot: bench.chat.url, now: bench.now });
});
afterEach(async () => {
  keys[Symbol.dispose]();
  await bench[Symbol.asyncDispose]();
});

function requestWith(authorization: string | undefined, body = "{}"): WebhookRequest {
  return { body: Buffer.from(body), headers: authorization === undefined ? {} : { authorization }, path: "/googlechat", query: new URLSearchParams() };
}

function check(authorization: string | undefined, { body, more = {} }: { body?: string; more?: Record<string, unknown> } = {}): Promise<Verified> {
  const account = createAccounts().read(bench.cfg(more));
  return verifyRequest(requestWith(authorization, body), { account, keys: keys[account.audienceType!], now: bench.now });
}

const bearer = (facts?: TokenFacts): string => `Bearer ${bench.chat.google.tokenFor(facts)}`;
const useUrl = (): { more: Record<string, unknown> } => {
  bench.chat.google.setAudience("app-url", URL_AUDIENCE);
  return { more: { audienceType: "app-url", audience: URL_AUDIENCE } };
};
const seconds = (): number => Math.floor(bench.now() / 1000);
const fetched = (): number => bench.asked().filter((line) => line.includes("certs") || line.includes("x509")).length;

describe("a token for the project's number", () => {
  test("is accepted; it and the body name the request", async () => {
    const token = bearer();
    const [one, again, other] = [await check(token), await check(token), await check(token, { body: "[]" })];
    expect(one.ok && again.ok && other.ok).toBe(true);
    expect(one).toEqual(again);
    expect(one).not.toEqual(other);
    expect(fetched()).toBe(1);
  });

  test.each([
    ["another audience", { claims: { aud: "999" } }, "audience"],
    ["an audience among others", { claims: { aud: [PROJECT, "999"] } }, "audience"],
    ["no audience", { claims: { aud: undefined } }, "audience"],
    ["another issuer", { claims: { iss: "evil@system.gserviceaccount.com" } }, "issuer"],
    ["the issuer of ID tokens", { claims: { iss: "https://accounts.google.com", email: CHAT, email_verified: true } }, "issuer"],
    ["no issuer", { claims: { iss: undefined } }, "issuer"],
    ["no expiry", { claims: { exp: undefined } }, "times"],
    ["an expiry that is no number", { claims: { exp: "9999999999" } }, "times"],
    ["no time of issue", { claims: { iat: undefined } }, "times"],
    ["HS512", { header: { alg: "HS512" } }, "RS256"],
    ["a lower-case algorithm", { header: { alg: "rs256" } }, "RS256"],
    ["no key id", { header: { kid: undefined } }, "RS256"],
    ["an extension that has to be understood", { header: { crit: ["x"] } }, "RS256"],
  ])("with %s is refused before any key is fetched", async (_name, facts, why) => {
    expect(await check(bearer(facts as TokenFacts))).toMatchObject({ ok: false, why: expect.stringContaining(why) as string });
    expect(fetched()).toBe(0);
  });

  test("counts from five minutes before it was issued to five minutes after its end", async () => {
    const at = (iat: number, exp: number) => check(bearer({ claims: { iat: seconds() + iat, exp: seconds() + exp } }));
    expect(await at(-7200, -301)).toMatchObject({ ok: false, why: "its token has expired" });
    expect(await at(-3600, -200)).toMatchObject({ ok: true });
    expect(await at(310, 3900)).toMatchObject({ ok: false, why: expect.stringContaining("future") as string });
    expect(await at(200, 3800)).toMatchObject({ ok: true });
    expect(await at(0, 90_000)).toMatchObject({ ok: false, why: "its token is valid for too long" });
    expect(await check(bearer({ claims: { nbf: seconds() + 400 } }))).toMatchObject({ ok: false });
  });

  test("signed by another key, or by nobody, is refused", async () => {
    expect(await check(bearer({ key: STRANGER }))).toMatchObject({ ok: false, why: "its signature is not valid" });
    expect(await check(bearer({ key: signingKey("unknown", 1) }))).toMatchObject({ ok: false, why: expect.stringContaining("an unknown key") as string });
    const [head, claims, signature] = bearer().split(".");
    const none = Buffer.from('{"alg":"none","kid":"chat-1"}').toString("base64url");
    for (const token of [`Bearer ${none}.${claims}.`, `Bearer ${none}.${claims}`, `Bearer ${none}.${claims}.${signature}`])
      expect(await check(token)).toMatchObject({ ok: false });
    const { id, publicPem } = bench.chat.google.keys["project-number"];
    const pem = certificateOf(bench.chat.google.keys["project-number"].key, CHAT, { from: 0, until: 1 });
    for (const secret of [publicPem, pem]) {
      const input = `${Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT", kid: id })).toString("base64url")}.${claims}`;
      expect(await check(`Bearer ${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`)).toMatchObject({ ok: false });
      const asRsa = `${head!.slice("Bearer ".length)}.${claims}`;
      expect(await check(`Bearer ${asRsa}.${createHmac("sha256", secret).update(asRsa).digest("base64url")}`)).toMatchObject({ ok: false });
    }
  });

  test("is written in one way only", async () => {
    const token = bearer().slice("Bearer ".length);
    const [head, claims, signature] = token.split(".") as [string, string, string];
    const last = signature.at(-1)!;
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const others = [letters[letters.indexOf(last) ^ 1]!, letters[letters.indexOf(last) ^ 2]!];
    const forms = [
      `${token}=`,
      `${token}.`,
      `.${token}`,
      `${token}.${signature}`,
      `${head}.${claims}.${signature.replaceAll("-", "+").replaceAll("_", "/")}==`,
    ];
    for (const form of [...forms, ...others.map((letter) => `${token.slice(0, -1)}${letter}`)])
      expect(await check(`Bearer ${form}`), form.slice(-12)).toMatchObject({ ok: false });
    for (const authorization of [undefined, "", "Bearer", "Bearer ", `Basic ${token}`, `Bearer ${token} ${token}`, `Bearer ${"a".repeat(9000)}.b.c`, token])
      expect(await check(authorization)).toMatchObject({ ok: false });
    expect(await check(`bearer  ${token}`)).toMatchObject({ ok: true });
    expect(readJwt(`${Buffer.from("[]").toString("base64url")}.${claims}.${signature}`)).toBeUndefined();
  });
});

describe("a token for the address", () => {
  test("is accepted from Google Chat and from add-ons, whose token may be in the body", async () => {
    const url = useUrl();
    expect(await check(bearer(), url)).toMatchObject({ ok: true });
    expect(await check(bearer({ claims: { iss: "accounts.google.com" } }), url)).toMatchObject({ ok: true });
    const email = `service-${PROJECT}@gcp-sa-gsuiteaddons.iam.gserviceaccount.com`;
    expect(await check(bearer({ claims: { email } }), url)).toMatchObject({ ok: true });
    const systemIdToken = bearer({ claims: { email } }).slice("Bearer ".length);
    const body = JSON.stringify({ authorizationEventObject: { systemIdToken } });
    expect(await check(undefined, { ...url, body })).toMatchObject({ ok: true });
    // A header that is there counts, whatever the body says.
    expect(await check("Bearer x", { ...url, body })).toMatchObject({ ok: false });
    expect(bench.asked()).toContain("GET /oauth2/v3/certs");
  });

  test.each([
    ["another address", { aud: "https://evil.example.com/googlechat" }],
    ["another path", { aud: `${URL_AUDIENCE}/x` }],
    ["the number of a project", { aud: PROJECT }],
    ["another account of Google", { email: "mallory@example.com" }],
    ["an account of another service", { email: `service-${PROJECT}@gcp-sa-other.iam.gserviceaccount.com` }],
    ["an account that only contains the name", { email: `x${CHAT}` }],
    ["an address that is not verified", { email_verified: false }],
    ["an address that is verified in words", { email_verified: "true" }],
    ["no address", { email: undefined }],
    ["another issuer", { iss: "https://accounts.example.com" }],
    ["Chat as the issuer", { iss: CHAT }],
  ])("for %s is refused", async (_name, claims) => {
    const url = useUrl();
    expect(await check(bearer(), url)).toMatchObject({ ok: true });
    expect(await check(bearer({ claims }), url)).toMatchObject({ ok: false });
  });

  test("in the body is not read where the project's number counts", async () => {
    const body = JSON.stringify({ authorizationEventObject: { systemIdToken: bearer().slice("Bearer ".length) } });
    expect(await check(undefined, { body })).toMatchObject({ ok: false, why: "it has no bearer token" });
  });

  test("of another account is not mistaken for one with an empty audience", async () => {
    bench.chat.google.setAudience("project-number", "");
    expect(await check(bearer(), { more: { audience: "" } })).toMatchObject({ ok: false });
  });
});

describe("keys", () => {
  test("are fetched once in ten minutes, by however many requests", async () => {
    await Promise.all([check(bearer()), check(bearer()), check(bearer())]);
    bench.step(599_000);
    await check(bearer());
    expect(fetched()).toBe(1);
    bench.step(2000);
    await check(bearer());
    expect(fetched()).toBe(2);
  });

  test("that are new are found at once, and ids that are made up cause a request a minute at most", async () => {
    await check(bearer());
    bench.step(61_000);
    bench.chat.google.rotate();
    expect(await check(bearer())).toMatchObject({ ok: true });
    expect(fetched()).toBe(2);
    for (const id of ["a", "b", "c", "d"]) expect(await check(bearer({ key: signingKey(id, 5) }))).toMatchObject({ ok: false });
    expect(fetched()).toBe(2);
    bench.step(61_000);
    for (const id of ["a", "b", "c", "d"]) expect(await check(bearer({ key: signingKey(id, 5) }))).toMatchObject({ ok: false });
    expect(fetched()).toBe(3);
  });

  test("that cannot be fetched say nothing about a request; those that are known serve for an hour", async () => {
    const { faults } = bench.chat.server;
    const broken = [{ status: 503 }, { reset: true }, { garbage: true }, { status: 200, body: {} }, { status: 200, body: { "chat-1": "no certificate" } }];
    for (const fault of broken) {
      faults.add({ on: "x509", ...fault });
      await expect(check(bearer())).rejects.toThrow("keys could not be fetched");
      // Others do not ask at once.
      const before = fetched();
      await expect(check(bearer())).rejects.toThrow("keys could not be fetched");
      expect(fetched()).toBe(before);
      bench.step(3000);
    }
    expect(await check(bearer())).toMatchObject({ ok: true });
    faults.add({ on: "x509", status: 500, times: Number.POSITIVE_INFINITY });
    bench.step(1_800_000);
    expect(await check(bearer())).toMatchObject({ ok: true });
    await expect(check(bearer({ key: signingKey("new", 2) }))).rejects.toThrow("keys could not be fetched");
    bench.step(1_900_000);
    await expect(check(bearer())).rejects.toThrow("keys could not be fetched");
  });

  test("serve within the time of their certificate, and have to be RSA keys of at least 2048 bits", async () => {
    const { key } = signingKey("k", 1);
    const now = bench.now();
    const pem = (from: number, until: number): string => certificateOf(key, CHAT, { from: now + from, until: now + until });
    for (const [id, body] of [
      ["old", { old: pem(-7200_000, -3600_000) }],
      ["early", { early: pem(3600_000, 7200_000) }],
    ] as const) {
      bench.chat.server.faults.add({ on: "x509", status: 200, body });
      const fresh = createKeys({ apiRoot: bench.chat.url, now: bench.now });
      expect(await fresh["project-number"].get(id)).toBeUndefined();
      fresh[Symbol.dispose]();
    }
    const weak = { kty: "RSA", kid: "weak", n: Buffer.alloc(64, 255).toString("base64url"), e: "AQAB" };
    const strange = [weak, { kty: "oct", kid: "oct", k: "AAAA" }, { kty: "RSA", kid: "enc", use: "enc", n: "x", e: "AQAB" }, 5, null];
    expect([...readKeys({ keys: strange }).keys()]).toEqual([]);
    expect([...readKeys([]).keys(), ...readKeys("x").keys(), ...readKeys({ a: 5 }).keys()]).toEqual([]);
  });

  test("are compared by their id: another account's key does not serve for it", async () => {
    const claims = { aud: PROJECT, iss: CHAT, iat: seconds(), exp: seconds() + 60 };
    expect(await check(`Bearer ${jwtOf(claims, signingKey("oidc-1", 0))}`)).toMatchObject({ ok: false });
  });
});
