import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { fill, mappingsOf, takes } from "./mappings.ts";
import { checkSignature, type SignedPreset } from "./signature.ts";

const values = {
  path: "deploys",
  now: "2026-01-01T00:00:00.000Z",
  headers: { "x-a.b": "head" },
  query: { "a[0]": "asked" },
  payload: { text: "t", list: [{ a: 1 }, "two"], nothing: null, off: false, path: "own", __proto__x: 1 },
};

test.each([
  ["{{path}} {{ now }}", "deploys 2026-01-01T00:00:00.000Z"],
  ["{{headers.X-A.B}} {{query.a[0]}}", "head asked"],
  ["{{text}} {{payload.text}} {{payload.path}}", "t t own"],
  ["{{list[0].a}} {{list[1]}} {{list[9]}}{{list.length}}", "1 two "],
  ["{{list}} {{off}}", '[{"a":1},"two"] false'],
  ["[{{nothing}}{{missing.deep}}{{constructor}}{{__proto__.a}}{{text.length}}]", "[]"],
  ["{{}} {single} {{ {{text}} }}", "{{}} {single} {{ t }}"],
])("the template %s is filled", (template, filled) => {
  expect(fill(template, values)).toBe(filled);
});

test("what a value contains is not filled again, and texts are bounded", () => {
  expect(fill("{{text}}", { ...values, payload: { text: "{{path}} $& $1" } })).toBe("{{path}} $& $1");
  expect(fill("{{text}}", { ...values, payload: { text: "x".repeat(600_000) } }).length).toBeLessThan(500_010);
});

test("mappings of the configuration come before presets, and one without a rule takes everything", () => {
  const mappings = mappingsOf({
    hooks: { presets: ["Gmail"], mappings: [{ match: { path: "/a/b/" } }, { match: { source: "s" } }, { preset: "slack", secret: "x" }, {}] },
  });
  expect(mappings.map(({ label, path, source }) => [label, path, source])).toEqual([
    ["hooks.mappings[0]", "a/b", undefined],
    ["hooks.mappings[1]", undefined, "s"],
    ["hooks.mappings[2]", "slack", undefined],
    ["hooks.mappings[3]", undefined, undefined],
    ["gmail", "gmail", undefined],
  ]);
  const first = (path: string, payload: Readonly<Record<string, unknown>>): string | undefined => mappings.find((one) => takes(one, path, payload))?.label;
  expect([first("a/b", {}), first("z", { source: "s" }), first("z", { source: ["s"] })]).toEqual([
    "hooks.mappings[0]",
    "hooks.mappings[1]",
    "hooks.mappings[3]",
  ]);
});

const BODY = Buffer.from('{"a":1}');
const NOW = 1_800_000_000_000;
const TIME = String(NOW / 1000);
const hmac = (text: string): string => createHmac("sha256", "s").update(text).update(BODY).digest("hex");

/** Headers of a right request. */
const RIGHT: Readonly<Record<SignedPreset, Readonly<Record<string, string>>>> = {
  github: { "x-hub-signature-256": `sha256=${hmac("")}` },
  stripe: { "stripe-signature": `t=${TIME},v0=ignored,v1=${hmac(`${TIME}.`)}` },
  slack: { "x-slack-signature": `v0=${hmac(`v0:${TIME}:`)}`, "x-slack-request-timestamp": TIME },
};

test.each(["github", "stripe", "slack"] as const)("a signature of %s fits its secret, its body and its time, and no other", (preset) => {
  const check = (headers = RIGHT[preset], secret = "s", body = BODY, now = NOW) => checkSignature(preset, { headers, body }, secret, now);
  const right = check();
  expect(right).toEqual({ ok: true, seal: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const upper = Object.fromEntries(Object.entries(RIGHT[preset]).map(([name, value]) => [name, value.replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase())]));
  expect(check(upper)).toEqual(right);
  expect(check(RIGHT[preset], "other").ok).toBe(false);
  for (const secret of ["", " "]) expect(check(RIGHT[preset], secret).ok).toBe(false);
  expect(check(RIGHT[preset], "s", Buffer.from("{}")).ok).toBe(false);
  expect(check({}).ok).toBe(false);
  expect(check(RIGHT[preset], "s", BODY, NOW + 299_000).ok).toBe(true);
  for (const now of [NOW + 301_000, NOW - 301_000]) expect(check(RIGHT[preset], "s", BODY, now).ok).toBe(preset === "github");
});
