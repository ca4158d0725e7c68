import { expect, test } from "vitest";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { systemRandom } from "../../base/random.ts";
import { ensureToken, settingsFrom } from "./settings.ts";

const from = (gateway: NonNullable<Parameters<typeof settingsFrom>[0]["gateway"]>, env = {}) => settingsFrom({ gateway }, env);

test.each([
  ["nothing is set", {}, {}, "token"],
  ["a token is set", { auth: { token: "t" } }, {}, "token"],
  ["a password is set", { auth: { password: "p" } }, {}, "password"],
  ["both are set", { auth: { token: "t", password: "p" } }, {}, "password"],
  ["a password is in the environment", {}, { OPENCLAW_GATEWAY_PASSWORD: "p" }, "password"],
  ["the mode is said", { auth: { mode: "token" as const, password: "p" } }, {}, "token"],
])("when %s the mode fits", (_, gateway, env, mode) => {
  expect(from(gateway, env).mode).toBe(mode);
});

test("the file comes before the environment, and an empty text is no secret", () => {
  const env = { OPENCLAW_GATEWAY_TOKEN: "from-env" };
  expect(from({ auth: { token: "from-file" } }, env).token).toBe("from-file");
  expect(from({ auth: { token: "  " } }, env).token).toBe("from-env");
  expect(from({ auth: { token: "" } }, { OPENCLAW_GATEWAY_TOKEN: "" }).token).toBeUndefined();
});

test("failures are limited whether or not the file says so, and nonsense does not turn it off", () => {
  const usual = { maxAttempts: 10, windowMs: 60_000, lockoutMs: 300_000, exemptLoopback: true };
  expect(from({}).rateLimit).toEqual(usual);
  expect(from({ auth: { rateLimit: {} } }).rateLimit).toEqual(usual);
  expect(from({ auth: { rateLimit: { maxAttempts: 0, windowMs: -5, lockoutMs: 0 } } }).rateLimit).toEqual(usual);
  expect(from({ auth: { rateLimit: { maxAttempts: 3, exemptLoopback: false } } }).rateLimit).toEqual({ ...usual, maxAttempts: 3, exemptLoopback: false });
});

test("Tailscale identities count by default only with serve in token mode", () => {
  expect(from({ tailscale: { mode: "serve" } }).allowTailscale).toBe(true);
  expect(from({ tailscale: { mode: "serve" }, auth: { password: "p" } }).allowTailscale).toBe(false);
  expect(from({}).allowTailscale).toBe(false);
  expect(from({ tailscale: { mode: "serve" }, auth: { allowTailscale: false } }).allowTailscale).toBe(false);
});

test("without a token one of 256 random bits is made and saved once", async () => {
  const saved: string[] = [];
  const deps = { ids: createIds(systemRandom), saveToken: async (token: string) => void saved.push(token), log: silentLogger };
  const settings = await ensureToken(from({}), deps);
  expect(saved).toEqual([settings.token]);
  expect(settings.token).toMatch(/^[0-9a-f]{64}$/);
  await ensureToken(settings, deps);
  await ensureToken(from({ auth: { mode: "none" } }), deps);
  await ensureToken(from({ auth: { password: "p" } }), deps);
  expect(saved).toHaveLength(1);
});

test("a token that cannot be saved still guards this run, and the user is warned", async () => {
  const warnings: string[] = [];
  const saveToken = () => Promise.reject(new Error("read-only"));
  const log = { ...silentLogger, warn: (text: string) => void warnings.push(text) };
  const settings = await ensureToken(from({}), { ids: createIds(systemRandom), saveToken, log });
  expect(settings.token).toMatch(/^[0-9a-f]{64}$/);
  expect(warnings.join()).toContain("OPENCLAW_GATEWAY_TOKEN");
  expect(warnings.join()).not.toContain(settings.token as string);
});
