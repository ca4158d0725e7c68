/** 11: a token was compared with `!==`. There is one comparison of secrets, it takes the same time for all of them, and nothing compares another way. */
import crypto from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { equalSecrets } from "../../src/base/equal-secrets.ts";

const ROOT = join(import.meta.dirname, "../..");
const sources = ["src", "plugins"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !/\.(?:test|fixture)\.ts$/.test(name))
    .map((name) => ({ name: join(folder, name), text: readFileSync(join(ROOT, folder, name), "utf8") })),
);

test("11: there is one timing-safe comparison, and one file that makes it; a plugin has its own, by the same rule", () => {
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter(({ text }) => text.includes("timingSafeEqual")).map(({ name }) => name)).toEqual([
    "src/base/equal-secrets.ts",
    "plugins/telegram/receive/webhook.ts",
  ]);
});

const original = crypto.timingSafeEqual;
afterEach(() => {
  crypto.timingSafeEqual = original;
  syncBuiltinESMExports();
});

test("11: whatever is presented, it is compared once, in full, and as many bytes as any other", () => {
  const compared: number[] = [];
  crypto.timingSafeEqual = (a, b) => {
    compared.push(a.byteLength, b.byteLength);
    return original(a, b);
  };
  syncBuiltinESMExports();
  const secret = "0123456789abcdef0123456789abcdef";
  const presented = ["", "0", secret.slice(0, -1), `${secret}0`, `x${secret.slice(1)}`, secret, "é".repeat(32), "x".repeat(100_000)];
  for (const text of presented) {
    compared.length = 0;
    expect([text.slice(0, 40), equalSecrets(text, secret), compared]).toEqual([text.slice(0, 40), text === secret, [32, 32]]);
  }
});

/** A comparison that stops at the first difference, and what stands on its two sides. */
const COMPARISON = /(typeof\s+)?([\w.?!()[\]]+|"")\s*[!=]==?\s*([\w.?!()[\]]+|"")/g;
/** A value that is a secret by its name: not what kind of secret it is, nor how many there are. */
const SECRET = /(?:^|[a-z.])(?:token|password|secret|bearer|credential|authorization|apikey|signature|presented)[!()]*$/i;
const CONSTANT = /^(?:""|undefined|null|true|false|\d+)\)*$/;
const EARLY = /(?:token|secret|password|signature)[!?]*\.(?:startsWith|endsWith|localeCompare|indexOf)\(/i;

/** Lines that compare something named like a secret with anything but a constant. */
function comparisonsIn(text: string): string[] {
  return text.split("\n").filter((line) => {
    if (/^\s*(?:\/\/|\*|\/\*)/.test(line)) return false;
    const bare = line.replaceAll(/\["(\w+)"\]/g, ".$1").replaceAll(/"[^"]*"|'[^']*'|`[^`]*`|\/(?:[^/\\\s]|\\.)+\/[a-z]*/g, '""');
    const early = [...bare.matchAll(COMPARISON)].some(
      ([, type, left = "", right = ""]) => !type && (SECRET.test(left) || SECRET.test(right)) && !CONSTANT.test(left) && !CONSTANT.test(right),
    );
    return early || EARLY.test(bare);
  });
}

/** Names that look like secrets and are none, or that no stranger can present. Each with the reason. */
const HARMLESS: readonly (readonly [file: string, line: RegExp, reason: string])[] = [
  ["src/doctor/service-audit.ts", /token === configured/, "both are the operator's own files"],
  ["src/models/auth/candidates.ts", /secret === configured\.secret/, "two keys of the same configuration"],
  ["src/models/catalogue/models-json.ts", /(?:written|value) !== apiKey/, "two texts of the same file"],
  ["src/protocol/client/device-file.ts", /\?\.token !== token/, "a client's own file"],
  ["src/models/wire/openai-completions/index.ts", /thinkingSignature/, "the name of a field"],
  ["src/models/wire/openai-responses/index.ts", /signature\?\.startsWith/, "the kind of a provider's reference"],
  ["src/store/sqlite/areas/leases.ts", /fence\.token/, "a counter of leases"],
  ["plugins/irc/connection/fences.ts", /one\.token === token/, "the number of a ping"],
];

test("11: nowhere in the program or in a bundled plugin is a secret compared any other way", () => {
  const found = sources.flatMap(({ name, text }) =>
    comparisonsIn(text)
      .map((line) => line.trim())
      .filter((line) => !HARMLESS.some(([file, allowed]) => file === name && allowed.test(line)))
      .map((line) => `${name}: ${line}`),
  );
  expect(found).toEqual([]);
});

test.each([
  "if (presented === token) {",
  "return presented === expected ? yes : no;",
  "return token !== given;",
  "secret.startsWith(text)",
  "providedToken == expected",
  "if (runSecret !== undefined && token && token === runSecret) return true;",
  "if (wanted !== undefined && token === wanted) return { ok: true };",
  'return request.headers["authorization"] === wanted;',
  "const ok = row.token === input.token;",
])("11: the search finds %s", (line) => {
  expect(comparisonsIn(line)).toHaveLength(1);
});

test.each(["if (token === undefined) return;", 'if (mode === "token") {', 'if (token === "") {', "typeof token === kind", "tokens === limit"])(
  "11: the search leaves %s alone",
  (line) => {
    expect(comparisonsIn(line)).toEqual([]);
  },
);
