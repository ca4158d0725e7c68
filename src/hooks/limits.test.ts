import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createFinalizeRetries, filterExecEnvironment, isExecVariable } from "./index.ts";

const REFUSED = [
  "",
  "1A",
  "A-B",
  "A B",
  "A=B",
  "Ä",
  "A\0",
  "PATH",
  "Path",
  "LD_PRELOAD",
  "LD_LIBRARY_PATH",
  "ld_preload",
  "DYLD_INSERT_LIBRARIES",
  "NODE_OPTIONS",
  "BASH_ENV",
  "HTTP_PROXY",
  "https_proxy",
  "ALL_PROXY",
  "no_proxy",
  "npm_config_https_proxy",
  "NODE_TLS_REJECT_UNAUTHORIZED",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_NO_VERIFY",
];

test.each(REFUSED)("a plugin may not set %j", (name) => {
  expect(isExecVariable(name)).toBe(false);
  expect(filterExecEnvironment({ [name]: "x" })).toEqual({ env: {}, dropped: [name] });
});

test.each(["TOKEN", "_x", "MY_PATH", "PATHS", "NODE_ENV", "OLD_LD_X", "PROXY_COUNT", "SSL"])("a plugin may set %s", (name) => {
  expect(filterExecEnvironment({ [name]: "x" })).toEqual({ env: { [name]: "x" }, dropped: [] });
});

test("a variable named __proto__ is dropped and changes no prototype", () => {
  expect(filterExecEnvironment(JSON.parse('{"__proto__":"x","A":"1"}'))).toEqual({ env: { A: "1" }, dropped: ["__proto__"] });
});

test("values that are not text, or contain a NUL, are dropped", () => {
  expect(filterExecEnvironment({ A: 1, B: null, C: "a\0b", D: "", E: ["x"] })).toEqual({ env: { D: "" }, dropped: ["A", "B", "C", "E"] });
});

test("for any input, only valid names with texts remain, and nothing is lost silently", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer())), (wanted) => {
      const { env, dropped } = filterExecEnvironment(wanted);
      for (const [name, value] of Object.entries(env)) expect([/^[A-Za-z_]\w*$/.test(name), typeof value]).toEqual([true, "string"]);
      expect([...Object.keys(env), ...dropped].sort()).toEqual(Object.keys(wanted).sort());
    }),
  );
});

const revise = (retry?: { instruction: string; idempotencyKey?: string; maxAttempts?: number }) => ({
  action: "revise" as const,
  reason: "why",
  ...(retry ? { retry } : {}),
});

test("a request has three passes, and the model gets the reason and the instruction", () => {
  const retries = createFinalizeRetries();
  expect(retries.take("a", revise({ instruction: "check it" }))).toEqual({ retry: true, attempt: 1, instruction: "why\n\ncheck it" });
  expect(retries.take("a", revise())).toEqual({ retry: true, attempt: 2, instruction: "why" });
  expect(retries.take("a", revise())).toMatchObject({ retry: true, attempt: 3 });
  expect(retries.take("a", revise())).toEqual({ retry: false, why: "attempts" });
});

test("passes are counted by plugin and key", () => {
  const retries = createFinalizeRetries();
  const once = (idempotencyKey: string) => revise({ instruction: "x", idempotencyKey, maxAttempts: 1 });
  expect([
    retries.take("a", once("k")).retry,
    retries.take("a", once("k")).retry,
    retries.take("a", once("l")).retry,
    retries.take("b", once("k")).retry,
  ]).toEqual([true, false, true, true]);
});

test("a request cannot raise the host's cap, and new keys do not make a run endless", () => {
  const retries = createFinalizeRetries();
  const asked = Array.from({ length: 5 }, () => retries.take("a", revise({ instruction: "x", maxAttempts: 100 })).retry);
  expect(asked).toEqual([true, true, true, false, false]);
  const more = Array.from({ length: 20 }, (_, index) => retries.take("a", revise({ instruction: "x", idempotencyKey: String(index) })));
  expect(more.filter((decision) => decision.retry)).toHaveLength(6);
  expect(more.at(-1)).toEqual({ retry: false, why: "run" });
});

test("a forced end is not a retry", () => {
  expect(createFinalizeRetries().take("a", { action: "finalize" })).toEqual({ retry: false, why: "finalize" });
});
