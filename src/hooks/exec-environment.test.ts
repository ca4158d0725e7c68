import * as fc from "fast-check";
import { expect, test } from "vitest";
import { filterExecEnvironment, isExecVariable } from "./index.ts";

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
